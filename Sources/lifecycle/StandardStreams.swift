import AppLifecycle
// The system calls, for all files of the tool.
@_exported public import LibC

/// Standard input, output and error, without buffers and without Foundation.
enum StandardStreams {
  /// A destination of text.
  enum Destination: Int32 {
    case output = 1
    case error = 2
  }

  /// A read or a write that failed.
  struct Failure: Error, CustomStringConvertible {
    let operation: String
    let number: Int32

    /// Whether the reader of a pipe has gone.
    var isClosedPipe: Bool { number == EPIPE }

    var description: String {
      // The system's text for that error is "Illegal seek".
      let reason =
        number == ESPIPE ? "a journal is read from a file, not from a pipe" : String(cString: strerror(number))
      return "cannot \(operation.printable): \(reason)"
    }
  }

  /// Opens the descriptors 0 to 2 that are closed.
  ///
  /// Otherwise a file could get such a number, and with it the text for standard error.
  ///
  /// Each is opened in the wrong direction, so that using it is still an error.
  static func holdClosed() {
    for number in 0...2 as ClosedRange<Int32> where fcntl(number, F_GETFD) < 0 {
      _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
    }
  }

  /// Reads all of standard input as UTF-8; invalid bytes become U+FFFD.
  static func readInput() throws(Failure) -> String {
    String(decoding: try readAll(of: 0, "standard input"), as: UTF8.self)
  }

  /// Reads all of a file.
  static func readFile(_ path: String) throws(Failure) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(operation: "open \(path)", number: errno) }
    defer { close(descriptor) }
    return try readAll(of: descriptor, path)
  }

  /// Reads all bytes of a descriptor.
  static func readAll(of descriptor: Int32, _ name: String) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count > 0 {
        bytes += chunk[..<count]
      } else if count == 0 {
        return bytes
      } else {
        try recover(from: errno, of: "read \(name)", on: descriptor, until: Int16(POLLIN))
      }
    }
  }

  /// Writes all of a text.
  static func write(_ text: String, to destination: Destination) throws(Failure) {
    try write(text, to: destination.rawValue, "write to standard \(destination)")
  }

  /// Writes all of a text to a descriptor.
  static func write(_ text: String, to descriptor: Int32, _ operation: String) throws(Failure) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { LibC.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else {
        try recover(from: errno, of: operation, on: descriptor, until: Int16(POLLOUT))
      }
    }
  }

  /// Waits if the descriptor is non-blocking, as one shared with another program may be; goes on after a signal.
  private static func recover(
    from number: Int32, of operation: String, on descriptor: Int32, until events: Int16
  ) throws(Failure) {
    if number == EINTR { return }
    guard number == EAGAIN || number == EWOULDBLOCK else { throw Failure(operation: operation, number: number) }
    var descriptor = pollfd(fd: descriptor, events: events, revents: 0)
    _ = poll(&descriptor, 1, -1)
  }
}
