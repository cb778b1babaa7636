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
  /// Whether the last datagram found no room: then the manager does not read, and the next one does not wait for it.
  private var isDeaf = false

  /// A socket to send with; nil if the system has no descriptor for it.
  init?(_ address: Address) {
    self.address = address
    descriptor = unixhost_notify_open()
    guard descriptor >= 0 else { return nil }
  }

  /// Sends a datagram; false, with `errno`, if it could not be sent.
  ///
  /// Waits a quarter of a second for a manager that is busy, and not at all for one that was still busy then.
  mutating func send(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    let isSent = withAddress { unixhost_notify_send(descriptor, $0, bytes, bytes.count, !isDeaf) }
    isDeaf = !isSent && errno == EAGAIN
    return isSent
  }

  /// Waits until the manager has handled what was sent before, at most for some milliseconds.
  ///
  /// The manager looks up the sender's process when it reads a datagram, so the process must still exist then.
  func barrier(milliseconds: Int32) {
    guard !isDeaf else { return }
    _ = withAddress { unixhost_notify_barrier(descriptor, $0, milliseconds) }
  }

  private func withAddress(_ body: (unixhost_notify_address) -> Bool) -> Bool {
    address.bytes.withUnsafeBufferPointer {
      body(unixhost_notify_address(bytes: $0.baseAddress, count: $0.count))
    }
  }
}
