#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A non-blocking socket on 127.0.0.1.
enum Socket {
  static func listen(port: UInt16) throws(Server.Failure) -> Int32 {
    #if canImport(Darwin)
      let listener = socket(AF_INET, SOCK_STREAM, 0)
    #else
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    guard listener >= 0 else { throw Server.Failure(call: "socket", code: errno) }
    setUp(listener)
    var yes: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isBound = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isBound, systemListen(listener, SOMAXCONN) == 0 else {
      let error = errno
      close(listener)
      throw Server.Failure(call: "port \(port)", code: error)
    }
    return listener
  }

  /// Accepts the next waiting connection; nil if none waits.
  ///
  /// - Throws: if the system has no descriptor or memory left; the connection goes on waiting.
  static func accept(from listener: Int32) throws(Server.Failure) -> Int32? {
    while true {
      let connection = systemAccept(listener, nil, nil)
      if connection >= 0 {
        setUp(connection)
        return connection
      }
      switch errno {
      case EINTR, ECONNABORTED: continue
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: throw Server.Failure(call: "accept", code: errno)
      default: return nil
      }
    }
  }

  /// The number of descriptors that the process may have.
  static var descriptorLimit: Int {
    let limit = sysconf(Int32(_SC_OPEN_MAX))
    return limit < 0 ? .max : limit
  }

  static func port(of listener: Int32) -> UInt16 {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutablePointer(to: &address) {
      _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
    }
    return UInt16(bigEndian: address.sin_port)
  }

  private static func setUp(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }
}

// The system calls, under names that the methods above do not hide.
private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }
private func systemAccept(
  _ descriptor: Int32, _ address: UnsafeMutablePointer<sockaddr>?, _ length: UnsafeMutablePointer<socklen_t>?
) -> Int32 {
  accept(descriptor, address, length)
}
