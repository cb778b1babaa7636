extension Duration {
  /// The whole nanoseconds, limited to the range of `Int64`.
  package var nanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
  /// The whole microseconds, limited to the range of `Int64`.
  package var microseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000_000) }
  /// The whole milliseconds, limited to the range of `Int64`.
  package var milliseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000_000_000) }
}
