import SavedState

/// A file with any bytes, read as saved state.
enum StateInput {
  /// The first byte says whether the rest is a whole file, or what stands behind a first line that fits it.
  ///
  /// Else the checksum would keep the fuzzer from all that is read behind it.
  static func run(_ bytes: [UInt8]) throws {
    let reading = StateReading(Array(bytes.dropFirst()), hasFirstLine: bytes.first.map { $0 & 1 == 0 } ?? true)
    if let broken = reading.brokenPromise { throw BrokenPromise(description: broken) }
  }
}
