import CUnixHost
import LibC

/// A socket for messages to the service manager that `$NOTIFY_SOCKET` names.
struct NotifySocket: Sendable {
  /// The address of the manager: a path, or a name in the abstract namespace (Linux), which has no file.
  struct Address: Sendable, Hashable {
    /// The bytes of the address: a zero byte and an abstract name, or a path and a zero byte.
    let bytes: [UInt8]

    /// Parses `/path` or `@name`; returns nil for any other text, and for one that is too long.
    init?(_ text: String) {
      var bytes = Array(text.utf8)
      guard bytes.count > 1 else { return nil }
      switch bytes[0] {
      // The length of an abstract name must be exact, so no zero byte may follow it.
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
  /// Whether the last datagram found no room, because the manager does not read; the next datagram then does not wait.
  private var isDeaf = false

  /// Creates the socket; returns nil if the system has no descriptor.
  init?(_ address: Address) {
    self.address = address
    descriptor = unixhost_notify_open()
    guard descriptor >= 0 else { return nil }
  }

  /// Sends a datagram; returns false, with `errno`, if it could not be sent.
  ///
  /// It waits up to a quarter of a second for a busy manager. If the manager was still busy then, later calls do not
  /// wait.
  mutating func send(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    let isSent = withAddress { unixhost_notify_send(descriptor, $0, bytes, bytes.count, !isDeaf) }
    isDeaf = !isSent && errno == EAGAIN
    return isSent
  }

  /// Waits until the manager has handled the earlier datagrams, or a time-out in milliseconds has passed.
  ///
  /// The manager looks up the sender's process when it reads a datagram, so the process must still exist then.
  func barrier(milliseconds: Int32) {
    guard !isDeaf else { return }
    _ = withAddress { unixhost_notify_barrier(descriptor, $0, milliseconds) }
  }

  /// Closes the socket, which must not be used afterwards.
  func end() { close(descriptor) }

  private func withAddress(_ body: (unixhost_notify_address) -> Bool) -> Bool {
    address.bytes.withUnsafeBufferPointer {
      body(unixhost_notify_address(bytes: $0.baseAddress, count: $0.count))
    }
  }
}
