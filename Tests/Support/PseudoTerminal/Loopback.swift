package import Glibc

/// Calls `body` with the address of a port on 127.0.0.1; the call may change the address.
package func withLoopback<Result>(
  _ port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
) -> Result {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  return withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
  }
}
