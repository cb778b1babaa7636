extension Duration {
  /// The duration in seconds, with one decimal: `0.3 s`.
  package var rounded: String { "\((self / .seconds(1) * 10).rounded() / 10) s" }
}
