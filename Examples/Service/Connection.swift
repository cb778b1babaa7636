import Dispatch

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// One client: each of its lines is answered by the number of words in it.
@MainActor final class Connection {
  /// A longer line is not read to its end.
  private static let lineLimit = 65_536

  private let socket: Int32
  private let reading: any DispatchSourceRead
  private let didEnd: (Connection) -> Void
  private var line: [UInt8] = []
  private var isFinishing = false
  private var isOver = false

  init(_ socket: Int32, didEnd: @escaping (Connection) -> Void) {
    self.socket = socket
    self.didEnd = didEnd
    reading = DispatchSource.makeReadSource(fileDescriptor: socket, queue: .main)
    reading.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.readAll() } }
    reading.setCancelHandler { close(socket) }
  }

  /// Greets the client and begins to answer it.
  func begin(with greeting: String) {
    reading.activate()
    send(greeting)
  }

  /// The service is to end: the line that has begun is the last one.
  func finish() {
    isFinishing = true
    if line.isEmpty { end() }
  }

  func end() {
    guard !isOver else { return }
    isOver = true
    reading.cancel()
    didEnd(self)
  }

  private func readAll() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !isOver {
      let count = read(socket, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return }
      guard count > 0 else { return end() }
      for byte in buffer[..<count] where !isOver { take(byte) }
    }
  }

  private func take(_ byte: UInt8) {
    guard byte == UInt8(ascii: "\n") else {
      line.append(byte)
      if line.count > Self.lineLimit { end() }
      return
    }
    let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\t") }
    line = []
    send("\(words.count)")
    if isFinishing { end() }
  }

  /// A client that reads nothing is not waited for.
  private func send(_ text: String) {
    let bytes = Array("\(text)\n".utf8)
    if write(socket, bytes, bytes.count) != bytes.count { end() }
  }
}
