import Dispatch
import Glibc
import Synchronization

/// An address of a host, IPv4 or IPv6, as the kernel wants it.
struct Address: Sendable {
  private let storage: sockaddr_storage
  private let size: socklen_t

  var family: CInt { CInt(storage.ss_family) }

  func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }

  /// All addresses of a host, in the order in which they should be tried.
  ///
  /// `getaddrinfo` blocks, for many seconds if the name server is gone, and cannot be interrupted. So it runs on a thread that
  /// may wait, and a task that is cancelled does not wait for it.
  static func resolve(_ endpoint: Endpoint) async throws -> [Address] {
    let answer = Answer<[Address]>()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        answer.expect(continuation)
        DispatchQueue.global().async { answer.give(Result { try lookUp(endpoint) }) }
      }
    } onCancel: {
      answer.give(.failure(CancellationError()))
    }
  }

  private static func lookUp(_ endpoint: Endpoint) throws(SystemError) -> [Address] {
    var hints = addrinfo()
    hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_NUMERICSERV
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(endpoint.host, "\(endpoint.port)", &hints, &list)
    guard code == 0 else { throw SystemError("\(endpoint)", String(cString: gai_strerror(code))) }
    defer { freeaddrinfo(list) }
    return sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }.compactMap { entry in
      guard let entry = entry?.pointee, let address = entry.ai_addr else { return nil }
      var storage = sockaddr_storage()
      withUnsafeMutableBytes(of: &storage) {
        $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: min($0.count, Int(entry.ai_addrlen))))
      }
      return Address(storage: storage, size: entry.ai_addrlen)
    }
  }
}

/// Hands over one result to the one who waits for it; of several that come, the first counts.
private final class Answer<Value: Sendable>: Sendable {
  private enum State {
    case open
    case expected(CheckedContinuation<Value, any Error>)
    case given(Result<Value, any Error>)
    case over
  }

  private let state = Mutex(State.open)

  func expect(_ continuation: CheckedContinuation<Value, any Error>) {
    let early: Result<Value, any Error>? = state.withLock {
      guard case .given(let result) = $0 else {
        $0 = .expected(continuation)
        return nil
      }
      $0 = .over
      return result
    }
    if let early { continuation.resume(with: early) }
  }

  func give(_ result: Result<Value, any Error>) {
    let waiting: CheckedContinuation<Value, any Error>? = state.withLock {
      switch $0 {
      case .open: $0 = .given(result)
      case .expected(let continuation):
        $0 = .over
        return continuation
      case .given, .over: break
      }
      return nil
    }
    waiting?.resume(with: result)
  }
}
