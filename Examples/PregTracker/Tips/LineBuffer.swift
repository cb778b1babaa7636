/// Joins bytes that arrive in pieces to lines.
struct LineBuffer: Hashable, Sendable {
  /// How many bytes of one line are kept: a server that never ends its line must not fill the memory.
  static let limit = 1000

  private var line: [UInt8] = []

  /// Adds the bytes that have arrived; returns the lines that they complete, without line ends.
  mutating func append(_ bytes: some Sequence<UInt8>) -> [String] {
    var lines: [String] = []
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        lines.append(String(decoding: line, as: UTF8.self))
        line.removeAll(keepingCapacity: true)
      } else if line.count < Self.limit {
        line.append(byte)
      }
    }
    return lines
  }
}
