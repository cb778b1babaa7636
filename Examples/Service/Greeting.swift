#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The service's configuration: the text that it sends to each new client.
@MainActor final class Greeting {
  private(set) var text = "hello"
  private let path: String?

  init(path: String?) {
    self.path = path
    read()
  }

  /// Reads the first line of the file again; if there is no line or no file, the old text stays.
  func read() {
    guard let path, let file = fopen(path, "r") else { return }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 256)
    guard fgets(&buffer, Int32(buffer.count), file) != nil else { return }
    let bytes = buffer.prefix { $0 != 0 && $0 != CChar(bitPattern: UInt8(ascii: "\n")) }
    text = String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
