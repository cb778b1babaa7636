import CUnixHost

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The socket at which a service manager listens, as `$NOTIFY_SOCKET` names it.
struct NotifySocket: Sendable {
  /// Where it is: a path, or a name in the abstract namespace (Linux), which has no file.
  struct Address: Sendable, Hashable {
    /// What stands in the address: of an abstract name a zero byte first, of a path a zero byte last.
    let bytes: [UInt8]

    /// Reads `/path` or `@name`; nil for anything else, and for what does not fit.
    init?(_ text: String) {
      var bytes = Array(text.utf8)
      guard bytes.count > 1 else { return nil }
      switch bytes[0] {
      // Of an abstract name the length counts, to the byte: no zero must follow it.
      case UInt8(ascii: "@"): bytes[0] = 0
      case UInt8(ascii: "/"): bytes.append(0)
      default: return nil
      }
      guard bytes.count <= MemoryLayout.size(ofValue: sockaddr_un().sun_path) else { return nil }
      self.bytes = bytes
    }
  }

  private let descriptor: Int32
  private let address: Address

  /// A socket to send with; nil if the system has no descriptor for it.
  init?(_ address: Address) {
    self.address = address
    descriptor = unixhost_notify_open()
    guard descriptor >= 0 else { return nil }
  }

  /// Sends a datagram, waiting for a manager that is busy at most a second; false, with `errno`, if it could not be sent.
  func send(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return withAddress { unixhost_notify_send(descriptor, $0, bytes, bytes.count) }
  }

  /// Waits until the manager has handled what was sent before, at most for some milliseconds.
  ///
  /// It looks up who sent a datagram, and finds nobody if the sender has ended by then.
  func barrier(milliseconds: Int32) { _ = withAddress { unixhost_notify_barrier(descriptor, $0, milliseconds) } }

  private func withAddress(_ body: (unixhost_notify_address) -> Bool) -> Bool {
    address.bytes.withUnsafeBufferPointer {
      body(unixhost_notify_address(bytes: $0.baseAddress, count: $0.count))
    }
  }
}
