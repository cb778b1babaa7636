/// Makes lines of bytes that arrive in pieces.
struct LineBuffer: Hashable, Sendable {
  /// More of one line is not kept: a server that never ends its line must not fill the memory.
  static let limit = 1000

  private var line: [UInt8] = []

  /// Takes what has arrived; returns the lines that it completes, without their ends.
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
