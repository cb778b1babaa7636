import LifecycleJournal

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file or standard output to which a picture is written, piece by piece.
///
/// A file appears as a whole: the pieces go to a new file beside it, which gets the name at the end. Without an end, as after
/// an error, the former file stays. The permissions are 0644 as far as the umask and those of the former file allow. A
/// symbolic link is followed if it belongs to this user or to root; another user's could lead to any file of this user.
final class OutputFile {
  private let path: String
  private let files: any FileCalls
  private var descriptor: Int32?
  /// The new file and the name that it gets at the end.
  private var fresh: (name: String, target: String)?
  private var text = ""
  private static let most = 60_000

  /// Creates an output besides a journal.
  ///
  /// - Parameters:
  ///   - path: the file; `-` is standard output.
  ///   - journal: the journal, which must not be overwritten.
  /// - Throws: an error if the file is one of the journal's.
  convenience init(_ path: String, besides journal: String) throws(UsageError) {
    self.init(path)
    guard path != "-", let identity = try? files.status(at: path).identity else { return }
    for name in JournalFiles.all(of: journal, files: files) where (try? files.status(at: name))?.identity == identity {
      throw UsageError("'\(path)' is the journal itself: -o would write over it")
    }
  }

  /// Creates an output without a journal to protect.
  init(_ path: String, files: any FileCalls = SystemFiles()) {
    (self.path, self.files) = (path, files)
    if path == "-" { descriptor = 1 }
  }

  deinit {
    if path != "-", let descriptor { files.close(descriptor) }
    if let fresh { try? files.remove(fresh.name) }
  }

  /// Whether anything was written.
  private(set) var hasBegun = false

  func write(_ more: String) throws(StandardStreams.Failure) {
    hasBegun = true
    text += more
    if text.utf8.count > Self.most { try flush() }
  }

  /// Ends the file, which appears under its name now.
  func finish() throws(StandardStreams.Failure) {
    try flush()
    guard let fresh else { return }
    try perform("write \(path)") { () throws(FileError) in try files.rename(fresh.name, to: fresh.target) }
    self.fresh = nil
  }

  private func flush() throws(StandardStreams.Failure) {
    if descriptor == nil { try perform("open \(path)") { () throws(FileError) in try open() } }
    let all = text
    text = ""
    try StandardStreams.write(all, to: descriptor ?? -1, path == "-" ? "write to standard output" : "write \(path)")
  }

  private func open() throws(FileError) {
    let target = try followed()
    let former = try? files.status(at: target)
    if let former, !former.isRegular {
      descriptor = try files.openStream(target)
      return
    }
    // A name that no other user can guess, and so occupy.
    let name = "\(target).new-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    descriptor = try files.makeFile(name, mode: 0o644 & (former?.mode ?? 0o777))
    fresh = (name, target)
  }

  /// The path behind the symbolic links; a link to a stream, as `/dev/stdout`, leads nowhere by its text, and stays.
  private func followed() throws(FileError) -> String {
    var path = path
    for _ in 0...40 {
      guard let status = try? files.status(ofName: path), status.isLink else { return path }
      guard status.owner == 0 || status.owner == geteuid() else { throw FileError(number: EPERM) }
      if let end = try? files.status(at: path), !end.isRegular { return path }
      guard let link = try files.readLink(path) else { return path }
      path = link.hasPrefix("/") ? link : JournalFiles.directory(of: path) + "/" + link
    }
    throw FileError(number: ELOOP)
  }

  private func perform(_ operation: String, _ body: () throws(FileError) -> Void) throws(StandardStreams.Failure) {
    do throws(FileError) { try body() } catch {
      throw StandardStreams.Failure(operation: operation, number: error.number)
    }
  }
}
