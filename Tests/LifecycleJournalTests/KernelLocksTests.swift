import Testing

@testable import LifecycleJournal

/// Whether a process writes a journal, by the kernel's tables.
@Suite
struct KernelLocksTests {
  private static let mounts = """
    27 1 254:1 / / rw,relatime - ext4 /dev/root rw
    31 27 0:28 / /dev/shm rw,nosuid,nodev - tmpfs shm rw
    44 27 0:172 / /disk rw,relatime - tmpfs attack rw
    """

  @Test(arguments: [("27", "fe:01:6"), ("31", "00:1c:6"), ("44", "00:ac:6")])
  func aFileHasTheNameOfItsFileSystem(mount: String, name: String) {
    let file = "pos:\t0\nflags:\t02100000\nmnt_id:\t\(mount)\nino:\t6\n"
    #expect(KernelLocks.name(of: file, mounts: Self.mounts) == name)
  }

  @Test(
    "a file system that is not listed, a kernel that does not tell the number",
    arguments: ["mnt_id:\t9\nino:\t6\n", "mnt_id:\t27\n", ""])
  func nothingIsSaidOf(_ file: String) {
    #expect(KernelLocks.name(of: file, mounts: Self.mounts) == nil)
  }

  @Test("the file of the same number on another file system is another file")
  func aFileOfAnotherFileSystem() {
    let locks = """
      1: FLOCK  ADVISORY  WRITE 4711 00:1c:6 0 EOF
      2: FLOCK  ADVISORY  READ  4712 fe:01:6 0 EOF
      2: -> FLOCK  ADVISORY  WRITE 4713 fe:01:7 0 EOF
      3: POSIX  ADVISORY  WRITE 4714 00:ac:6 0 EOF
      """
    #expect(KernelLocks.holds("00:1c:6", locks: locks))
    for name in ["fe:01:6", "fe:01:7", "00:ac:6", "00:1c:16"] { #expect(!KernelLocks.holds(name, locks: locks)) }
  }

  @Test("a lock of this process, on each file system that is here", arguments: ["/tmp", "/dev/shm", "/run"])
  func aLockOfThisProcess(directory: String) throws {
    let files = SystemFiles()
    let path = "\(directory)/journal-\(UInt64.random(in: .min ... .max))"
    guard let descriptor = try? files.openForAppending(path, exclusively: true) else {
      return print("skipped: \(directory) is not there, or not to be written")
    }
    defer { try? files.remove(path) }
    #expect(!KernelLocks.isHeld(path, files: files))
    #expect(try files.lock(descriptor))
    #if os(Linux)
      #expect(KernelLocks.isHeld(path, files: files))
    #endif
    files.close(descriptor)
    #expect(!KernelLocks.isHeld(path, files: files))
  }
}
