/// The kernel's table of file locks, `/proc/locks`.
///
/// It tells whether a process writes a journal. To try the lock instead could take it from a program that starts.
package enum KernelLocks {
  /// Returns whether a process writes the journal at a path.
  ///
  /// The table lists the processes that this one can see. Systems without such a table get false.
  package static func isHeld(_ path: String, files: any FileCalls) -> Bool {
    guard let source = try? FileSource(path, files: files), let locks = text(of: "/proc/locks", files),
      // The descriptor stays open until its file has been read.
      let file = withExtendedLifetime(source, { text(of: "/proc/self/fdinfo/\(source.descriptor)", files) }),
      let mounts = text(of: "/proc/self/mountinfo", files),
      let name = name(of: file, mounts: mounts)
    else { return false }
    return holds(name, locks: locks)
  }

  /// Returns the name that the table gives to an open file: `fd:01:131099`, its file system and its number.
  ///
  /// The numbers of `stat` are others on some file systems, such as Btrfs, so both parts come from the kernel. The file's number
  /// alone would not do: every small file system has the same ones.
  ///
  /// - Parameters:
  ///   - file: `/proc/self/fdinfo/N`, which has `ino` since Linux 5.14.
  ///   - mounts: `/proc/self/mountinfo`.
  /// - Returns: nil if the kernel does not tell it.
  static func name(of file: String, mounts: String) -> String? {
    guard let mount = field("mnt_id", of: file), let number = field("ino", of: file) else { return nil }
    // 27 1 254:1 / / rw,relatime - ext4 /dev/root rw
    for line in mounts.split(separator: "\n") {
      let fields = line.split(separator: " ", maxSplits: 3)
      guard fields.count > 2, fields[0] == mount else { continue }
      let device = fields[2].split(separator: ":").compactMap { UInt32($0) }
      guard device.count == 2 else { return nil }
      return "\(hexadecimal(device[0])):\(hexadecimal(device[1])):\(number)"
    }
    return nil
  }

  /// Returns whether the table has a lock for writing of the file of this name.
  static func holds(_ name: String, locks: String) -> Bool {
    // 1: FLOCK  ADVISORY  WRITE 4711 fd:01:131099 0 EOF
    locks.split(separator: "\n").contains { line in
      let fields = line.split(separator: " ")
      return fields.count > 5 && fields[1] == "FLOCK" && fields[3] == "WRITE" && fields[5] == name
    }
  }

  private static func field(_ name: String, of file: String) -> Substring? {
    file.split(separator: "\n").lazy.map { $0.split(whereSeparator: { $0 == ":" || $0 == "\t" || $0 == " " }) }
      .first { $0.count == 2 && $0[0] == name }?[1]
  }

  /// As the kernel prints the parts of a device's number: in hexadecimal, with at least two digits.
  private static func hexadecimal(_ number: UInt32) -> String {
    (number < 16 ? "0" : "") + String(number, radix: 16)
  }

  private static func text(of path: String, _ files: any FileCalls) -> String? {
    // The kernel tells no length; the memory that is not filled costs nothing.
    let bytes = try? FileSource(path, files: files).read(1 << 24)
    return bytes.map { String(decoding: $0, as: UTF8.self) }
  }
}
