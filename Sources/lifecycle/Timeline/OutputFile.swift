import LifecycleJournal

/// The file or standard output to which a picture is written, piece by piece.
///
/// A name of an open descriptor, such as `/dev/stderr`, stands for that descriptor. A file appears as a whole: the pieces go to a new file beside
/// it, which gets the name at the end. Without an end, as after an error, the former file stays. The permissions are 0644 as far as the umask and those of the former file allow. A
/// symbolic link is followed if it belongs to this user, to root, or to the owner of its directory; another user's could
/// lead to any file of this user.
final class OutputFile {
  private let path: String
  private let files = SystemFiles()
  private var descriptor: Int32?
  /// Whether the program that started the tool has opened the file.
  private var isInherited = false
  /// The new file and the name that it gets at the end.
  private var fresh: (name: String, target: String)?
  private var text = ""
  /// The first failed write.
  ///
  /// A part of the text is lost with it, so the file gets no more text, and its name does not change.
  private var failure: StandardStreams.Failure?
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
  init(_ path: String) {
    self.path = path
    if path == "-" { (descriptor, isInherited) = (1, true) }
  }

  deinit {
    if !isInherited, let descriptor { files.close(descriptor) }
    if let fresh { try? files.remove(fresh.name) }
    UnfinishedFile.set(nil)
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
    guard let fresh, let descriptor else { return }
    try perform("write \(path)") { () throws(FileError) in
      // A network file system may find only now that there is no room.
      try files.flush(descriptor)
      try files.rename(fresh.name, to: fresh.target)
    }
    self.fresh = nil
  }

  private func flush() throws(StandardStreams.Failure) {
    if descriptor == nil { try perform("open \(path)") { () throws(FileError) in try open() } }
    if let failure { throw failure }
    let all = text
    text = ""
    do {
      try StandardStreams.write(all, to: descriptor ?? -1, path == "-" ? "write to standard output" : "write \(path)")
    } catch {
      failure = error
      throw error
    }
  }

  private func open() throws(FileError) {
    let target = try followed()
    if let number = Self.descriptor(named: target) {
      (descriptor, isInherited) = (number, true)
      return
    }
    let former = try? files.status(at: target)
    if let former, !former.isRegular {
      descriptor = try files.openStream(target)
      return
    }
    // A name that no other user can guess, and so occupy.
    let name = "\(target).new-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    UnfinishedFile.set(name)
    descriptor = try files.makeFile(name, mode: 0o644 & (former?.mode ?? 0o777))
    fresh = (name, target)
  }

  /// Returns the open descriptor that a path names.
  ///
  /// Behind it may be a regular file, to which the shell appends, and which must not be replaced.
  private static func descriptor(named path: String) -> Int32? {
    guard let folder = ["/dev/fd/", "/proc/self/fd/"].first(where: path.hasPrefix) else { return nil }
    return Int32(path.dropFirst(folder.count))
  }

  /// The path behind the symbolic links; a link to a stream leads nowhere by its text, and stays.
  private func followed() throws(FileError) -> String {
    try JournalFiles.followed(path, files: files) { link throws(FileError) in
      try JournalFiles.checkOwner(ofLink: link, files: files)
      return Self.descriptor(named: link) == nil && (try? files.status(at: link))?.isRegular != false
    }
  }

  private func perform(_ operation: String, _ body: () throws(FileError) -> Void) throws(StandardStreams.Failure) {
    do throws(FileError) { try body() } catch {
      throw StandardStreams.Failure(operation: operation, number: error.number)
    }
  }
}

/// The new file that a signal which ends the tool removes.
private enum UnfinishedFile {
  /// A C string, as the handler of a signal may call little more than `unlink`; no name is freed, as it may be in use.
  nonisolated(unsafe) private static var name: UnsafeMutablePointer<CChar>?

  /// Sets the path of the file; nil if it is finished or removed.
  static func set(_ path: String?) {
    name = path.flatMap { strdup($0) }
    guard path != nil else { return }
    for number in [SIGINT, SIGTERM, SIGHUP] {
      // An action that is not the default one stays: a tool that `nohup` has started ignores the signal.
      if let former = signal(number, handler) { signal(number, former) }
    }
  }

  private static let handler: @convention(c) (Int32) -> Void = { number in
    if let name = UnfinishedFile.name { unlink(name) }
    signal(number, SIG_DFL)
    raise(number)
  }
}
