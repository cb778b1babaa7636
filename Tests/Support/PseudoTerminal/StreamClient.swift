import Glibc

/// Connects to a stream socket in the file system, sends bytes, and returns as many that the server sends back.
///
/// - Throws: ``SystemError`` if the connection is refused, or ends too early.
package func exchange(_ bytes: [UInt8], at path: String) throws -> [UInt8] {
  let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  guard descriptor >= 0 else { throw SystemError("socket") }
  defer { close(descriptor) }
  var address = sockaddr_un()
  address.sun_family = sa_family_t(AF_UNIX)
  precondition(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path), "the path is too long")
  withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
  let isConnected = withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
    }
  }
  guard isConnected else { throw SystemError("connect \(path)") }
  guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
    throw SystemError("send")
  }
  var answer: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: bytes.count)
  while answer.count < bytes.count {
    let count = read(descriptor, &buffer, bytes.count - answer.count)
    guard count > 0 else { throw SystemError("read", code: count == 0 ? ECONNRESET : errno) }
    answer += buffer[..<count]
  }
  return answer
}
