import ExampleSupport
import Glibc

/// The few calls of the file system that the program needs, with errors that name the file.
enum File {
  /// The first bytes of a file, at most `limit`.
  static func read(_ path: String, limit: Int) throws(SystemError) -> [UInt8] {
    // Non-blocking, so that a named pipe in the file's place cannot hold up the program.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw SystemError(path) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: limit)
    while bytes.count < limit {
      let count = Glibc.read(descriptor, &chunk, limit - bytes.count)
      guard count >= 0 else {
        if errno == EINTR { continue }
        throw SystemError(path)
      }
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    return bytes
  }

  /// Replaces a file's content as a whole: after a crash or a power cut either the old file or the new one is there.
  ///
  /// Writes a new file beside the old one, flushes it to the disk, and renames it over the old one. Makes a missing directory. A
  /// symbolic link stays: the file that it names is replaced.
  static func replace(_ path: String, with bytes: [UInt8]) throws(SystemError) {
    let path = resolved(path)
    let directory = self.directory(of: path)
    try makeDirectory(directory)
    let temporary = "\(path).\(getpid()).tmp"
    unlink(temporary)  // left behind by a process with the same number whose machine lost its power
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError(temporary) }
    do throws(SystemError) {
      defer { close(descriptor) }
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else {
          if errno == EINTR { continue }
          throw SystemError(temporary)
        }
        rest = rest.dropFirst(count)
      }
      guard fsync(descriptor) == 0 else { throw SystemError(temporary) }
      guard rename(temporary, path) == 0 else { throw SystemError(path) }
    } catch {
      unlink(temporary)
      throw error
    }
    // The new name is on the disk only when the directory is flushed. Some file systems refuse that; the file is whole even so.
    let parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if parent >= 0 {
      fsync(parent)
      close(parent)
    }
  }

  /// Renames a file to a free name, and returns that name.
  ///
  /// The names are `PATH.kept-1`, `PATH.kept-2` and so on. Refuses what is not a file: a directory or a device there is a mistake in the path, and moving it would be another.
  static func setAside(_ path: String) throws(SystemError) -> String {
    var status = stat()
    guard stat(path, &status) == 0 else { throw SystemError(path) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError(path, "not a file") }
    var number = 1
    while access("\(path).kept-\(number)", F_OK) == 0 { number += 1 }
    let kept = "\(path).kept-\(number)"
    guard rename(path, kept) == 0 else { throw SystemError(path) }
    return kept
  }

  /// Why a file could not be replaced just now; nil if it could.
  static func obstacle(to path: String) -> SystemError? {
    var status = stat()
    if stat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFREG else { return SystemError(path, "not a file") }
      // `rename` would replace a read-only file without asking, and for root `access` finds everything writable.
      guard status.st_mode & 0o200 != 0 else { return SystemError(path, "read-only") }
    } else if errno != ENOENT {
      return SystemError(path)
    }
    var directory = self.directory(of: path)
    while access(directory, W_OK | X_OK) != 0 {
      // Missing directories will be made, so the nearest existing directory decides.
      guard errno == ENOENT, directory != self.directory(of: directory) else { return SystemError(directory) }
      directory = self.directory(of: directory)
    }
    return nil
  }

  private static func resolved(_ path: String) -> String {
    guard let target = realpath(path, nil) else { return path }
    defer { free(target) }
    return String(cString: target)
  }

  private static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func makeDirectory(_ path: String) throws(SystemError) {
    guard access(path, F_OK) != 0, errno == ENOENT else { return }
    try makeDirectory(directory(of: path))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SystemError(path) }
  }
}
