package import Testing

extension TimeLimitTrait.Duration {
  /// How long a test may take before it counts as one that hangs.
  ///
  /// Much more than any test takes on a slow machine that is busy, under a sanitizer too: the time runs while a test waits for
  /// its turn, so a tight limit would tell how fast the machine is and not whether the test ends.
  package static var hang: Self { .minutes(30) }
}
