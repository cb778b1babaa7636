import Glibc
import ProbeSupport
import Synchronization

extension Log {
  /// The file that the test reads.
  static let shared: Log = {
    let arguments = CommandLine.arguments
    return Log(arguments.firstIndex(of: "--log").map { arguments[$0 + 1] })
  }()
}

/// The port that the test has reserved, in the place of that of the listing.
private let reservedPort: UInt16 = {
  let arguments = CommandLine.arguments
  return arguments.firstIndex(of: "--port").flatMap { UInt16(arguments[$0 + 1]) } ?? 0
}()

private struct Refused: Error {}

/// A socket of the loopback that listens, and accepts clients once a loop asks for them.
///
/// The latest client stays in hand until the next one comes or the accepting stops, as in an accept that takes its time. So one
/// client at least is handed over just as the phase closes.
final class Listener: Sendable {
  /// The clients, which are accepted from the first use on.
  var clients: AsyncStream<LineClient> {
    if !accepts.exchange(true, ordering: .sequentiallyConsistent) { startThread { self.acceptClients() } }
    return stream
  }

  private let stream: AsyncStream<LineClient>
  private let continuation: AsyncStream<LineClient>.Continuation
  private let descriptor: Int32
  /// Its write end is closed when the accepting must stop.
  private let stopPipe: (reader: Int32, writer: Int32)
  private let accepts = Atomic(false)
  private let accepted = Atomic(0)

  /// The most clients that are accepted after the order to stop.
  private static let lateLimit = 16

  init(port: Int) throws {
    (stream, continuation) = AsyncStream.makeStream(of: LineClient.self)
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var ends: [Int32] = [0, 0]
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    address.sin_port = reservedPort.bigEndian
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    let isBound = withUnsafePointer(to: address) { [descriptor] in
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isBound, listen(descriptor, 128) == 0, pipe(&ends) == 0 else { throw Refused() }
    stopPipe = (ends[0], ends[1])
    Log.shared.write("pid \(getpid())")
  }

  func stop() { Glibc.close(stopPipe.writer) }

  func close() {
    Glibc.close(descriptor)
    Glibc.close(stopPipe.reader)
    let count = accepted.load(ordering: .sequentiallyConsistent)
    Log.shared.write("accepted \(count), \(LineClient.counts)")
  }

  private func acceptClients() {
    var inHand: LineClient?
    while let client = accept(orUntil: stopPipe.reader) {
      if let former = inHand { continuation.yield(former) }
      inHand = client
    }
    for _ in 0..<Self.lateLimit {
      guard let client = acceptNow() else { break }
      continuation.yield(client)
    }
    if let inHand { continuation.yield(inHand) }
    continuation.finish()
  }

  private func accept(orUntil stop: Int32) -> LineClient? {
    while true {
      var waiting = [
        pollfd(fd: stop, events: 0, revents: 0), pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&waiting, 2, -1) > 0 else { continue }
      guard waiting[0].revents == 0 else { return nil }
      if let client = acceptNow() { return client }
    }
  }

  private func acceptNow() -> LineClient? {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, 0) > 0 else { return nil }
    let socket = Glibc.accept(descriptor, nil, nil)
    guard socket >= 0 else { return nil }
    let number = accepted.add(1, ordering: .sequentiallyConsistent).newValue
    return LineClient("\(number)", Connection(socket))
  }
}
