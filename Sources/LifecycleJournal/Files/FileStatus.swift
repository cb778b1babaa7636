/// The status of a file.
package struct FileStatus: Sendable, Hashable {
  /// The identity of the file: its device and its number there.
  package var identity: Identity
  /// The length in bytes.
  package var size: Int64
  /// Whether it is a regular file, and not a directory, device or pipe.
  package var isRegular: Bool
  /// Whether it is a symbolic link.
  package var isLink: Bool
  /// The number of its names; 0 for a removed file.
  package var names: Int
  /// The user to whom it belongs.
  package var owner: UInt32
  /// The permissions.
  package var mode: UInt32
  /// The time of the last write, since 1970.
  package var modified: Duration

  package struct Identity: Sendable, Hashable {
    package var device: UInt64
    package var number: UInt64

    package init(device: UInt64, number: UInt64) { (self.device, self.number) = (device, number) }
  }

  package init(
    identity: Identity, size: Int64, isRegular: Bool, isLink: Bool = false, names: Int, owner: UInt32 = 0,
    mode: UInt32 = 0o600, modified: Duration = .zero
  ) {
    (self.identity, self.size, self.isRegular, self.isLink) = (identity, size, isRegular, isLink)
    (self.names, self.owner, self.mode, self.modified) = (names, owner, mode, modified)
  }
}
