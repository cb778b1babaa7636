/// Parses replies from bytes that arrive in pieces.
///
/// A value without I/O. It reads Redis's protocol, and any other line as a text.
struct ReplyParser: Hashable, Sendable {
  /// The limit of a reply's length: a server must not fill the memory.
  static let limit = 1 << 20
  private static let deepest = 8

  private var bytes: [UInt8] = []

  /// An error: the server breaks the protocol.
  struct Malformed: Error, Hashable, CustomStringConvertible {
    var description: String { "the server's answer cannot be read" }
  }

  /// Adds the bytes that have arrived; returns the replies that they complete.
  ///
  /// - Complexity: linear in the length of the reply that has begun, for each piece.
  mutating func append(_ piece: some Collection<UInt8>) throws(Malformed) -> [Reply] {
    bytes += piece
    var replies: [Reply] = []
    var start = 0
    while let (reply, end) = try reply(at: start, depth: 0) {
      replies.append(reply)
      start = end
    }
    bytes.removeFirst(start)
    guard bytes.count <= Self.limit else { throw Malformed() }
    return replies
  }

  /// The reply that begins at an index, and where it ends; nil if its end has not arrived.
  private func reply(at start: Int, depth: Int) throws(Malformed) -> (Reply, end: Int)? {
    guard let (line, end) = line(at: start), let kind = line.first else {
      // An empty line is no reply.
      return try line(at: start).flatMap { (_, end) throws(Malformed) in try reply(at: end, depth: depth) }
    }
    switch kind {
    case UInt8(ascii: "+"), UInt8(ascii: ":"): return (.text(text(line.dropFirst())), end)
    case UInt8(ascii: "-"): return (.error(text(line.dropFirst())), end)
    case UInt8(ascii: "$"): return try bulk(count(line), at: end)
    case UInt8(ascii: "*"), UInt8(ascii: ">"): return try array(count(line), at: end, depth: depth)
    default: return (.text(text(line)), end)
    }
  }

  private func bulk(_ count: Int, at start: Int) -> (Reply, end: Int)? {
    guard count >= 0 else { return (.text(""), start) }
    let end = start + count
    guard end + 2 <= bytes.count else { return nil }
    return (.text(text(bytes[start..<end])), end + 2)
  }

  private func array(_ count: Int, at start: Int, depth: Int) throws(Malformed) -> (Reply, end: Int)? {
    guard depth < Self.deepest else { throw Malformed() }
    var elements: [Reply] = []
    var end = start
    for _ in 0..<max(count, 0) {
      guard let element = try reply(at: end, depth: depth + 1) else { return nil }
      elements.append(element.0)
      end = element.end
    }
    return (.array(elements), end)
  }

  /// The line that begins at an index, without its end, and where the next one begins.
  private func line(at start: Int) -> (ArraySlice<UInt8>, end: Int)? {
    guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let line = bytes[start..<end]
    return (line.last == UInt8(ascii: "\r") ? line.dropLast() : line, end + 1)
  }

  /// The number behind the first byte of a line.
  private func count(_ line: ArraySlice<UInt8>) throws(Malformed) -> Int {
    guard let count = Int(text(line.dropFirst())), count <= Self.limit else { throw Malformed() }
    return count
  }

  private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
