/// A small generator of pseudo-random numbers for repeatable tests; equal seeds give equal numbers.
///
/// The algorithm is Steele, Lea and Flood's SplitMix64 (OOPSLA 2014). Not for cryptography.
package struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Makes a generator from a seed.
  package init(seed: UInt64) { state = seed }

  /// Returns the next number, uniformly distributed over all 64-bit values.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
