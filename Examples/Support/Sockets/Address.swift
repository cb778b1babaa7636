import Dispatch
package import Glibc

/// An address of a host, IPv4 or IPv6, as the kernel wants it.
package struct Address: Sendable {
  private let storage: sockaddr_storage
  private let size: socklen_t

  package var family: CInt { CInt(storage.ss_family) }

  package func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }

  /// All addresses of a host, in the order in which they should be tried.
  ///
  /// `getaddrinfo` blocks, for many seconds if the name server is gone, and cannot be interrupted. So it runs on a thread that
  /// may block, and a task that is cancelled does not wait for it.
  package static func resolve(_ endpoint: Endpoint) async throws -> [Address] {
    let answer = Answer<[Address]>()
    DispatchQueue.global().async { answer.give(Result { try lookUp(endpoint) }) }
    return try await answer.value
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
