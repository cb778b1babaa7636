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
/// The file is not opened before the first piece is written.
final class OutputFile {
  private let path: String
  private var descriptor: Int32?
  private var text = ""
  private static let most = 60_000

  /// - Parameters:
  ///   - path: the file; `-` is standard output.
  ///   - journal: the journal, which must not be overwritten.
  /// - Throws: an error if the file is one of the journal's.
  init(_ path: String, besides journal: String) throws(UsageError) {
    self.path = path
    if path == "-" { descriptor = 1 }
    let files = SystemFiles()
    guard path != "-", let identity = try? files.status(at: path).identity else { return }
    for name in JournalFiles.all(of: journal, files: files) where (try? files.status(at: name))?.identity == identity {
      throw UsageError("'\(path)' is the journal itself: -o would write over it")
    }
  }

  /// Creates an output without a journal to protect.
  init(_ path: String) {
    self.path = path
    if path == "-" { descriptor = 1 }
  }

  deinit { if path != "-", let descriptor { close(descriptor) } }

  /// Whether anything was written.
  private(set) var hasBegun = false

  func write(_ more: String) throws(StandardStreams.Failure) {
    hasBegun = true
    text += more
    if text.utf8.count > Self.most { try flush() }
  }

  func flush() throws(StandardStreams.Failure) {
    if descriptor == nil { descriptor = try StandardStreams.create(path) }
    let all = text
    text = ""
    try StandardStreams.write(all, to: descriptor ?? -1, path == "-" ? "write to standard output" : "write \(path)")
  }
}
