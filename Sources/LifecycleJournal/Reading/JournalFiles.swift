/// The files that one journal consists of: the one that is written, and those that were kept when it had grown too long.
package enum JournalFiles {
  /// The file that a path leads to: where it is a symbolic link, what that leads to, and so on.
  ///
  /// The files that are kept lie beside the file, not beside the link.
  package static func followed(_ path: String, files: any FileCalls) throws(FileError) -> String {
    var path = path
    // As many links as Linux follows.
    for _ in 0...40 {
      guard let target = try files.readLink(path) else { return path }
      path = target.hasPrefix("/") ? target : directory(of: path) + "/" + target
    }
    throw FileError.tooManyLinks
  }

  /// The name of a file that is kept; 1 is the newest.
  package static func kept(_ number: Int, of path: String) -> String { "\(path).\(number)" }

  /// All that are there, oldest first; the one that is written comes last, whether it is there or not.
  ///
  /// A program that dies while it makes room may leave one number free, and one file under two names.
  package static func all(of path: String, files: any FileCalls) -> [String] {
    let path = (try? followed(path, files: files)) ?? path
    var names = [path]
    var seen: Set<FileStatus.Identity> = []
    if let status = try? files.status(at: path) { seen.insert(status.identity) }
    var missing = 0
    var number = 1
    while missing < 2 {
      let name = kept(number, of: path)
      if let status = try? files.status(at: name) {
        missing = 0
        if status.isRegular, seen.insert(status.identity).inserted { names.append(name) }
      } else {
        missing += 1
      }
      number += 1
    }
    return names.reversed()
  }

  /// The directory that a path lies in.
  static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Another name for the same journal of another program: `trips.jsonl` becomes `trips-2.jsonl`.
  static func own(_ number: Int, of path: String) -> String {
    let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    guard number > 1 else { return path }
    guard let dot = path[name...].lastIndex(of: "."), dot > name else { return "\(path)-\(number)" }
    return "\(path[..<dot])-\(number)\(path[dot...])"
  }

  /// Another name where the file holds something else: `notes.txt.journal`, then `notes.txt.journal-2`; 0 is the file's own.
  static func beside(_ number: Int, of path: String) -> String {
    switch number {
    case 0: path
    case 1: "\(path).journal"
    default: "\(path).journal-\(number)"
    }
  }

  /// Whether a program writes the journal, without getting in its way: to try the lock would be to take it.
  ///
  /// On Linux the kernel's table of locks says so, of programs that one can see; elsewhere nothing does.
  package static func isHeld(_ path: String, files: any FileCalls) -> Bool {
    guard let identity = try? files.status(at: path).identity,
      let descriptor = try? files.openForReading("/proc/locks")
    else { return false }
    defer { files.close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    var table: [UInt8] = []
    while let count = bytes.withUnsafeMutableBytes({
      try? files.read(into: $0, from: descriptor, at: Int64(table.count))
    }),
      count > 0
    {
      table += bytes[..<count]
    }
    // 1: FLOCK  ADVISORY  WRITE 4711 fd:01:131099 0 EOF
    return table.split(separator: UInt8(ascii: "\n")).contains { line in
      let fields = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
      guard fields.count > 5, fields[1] == "FLOCK", fields[3] == "WRITE" else { return false }
      // The numbers of the device differ from those of `stat` on some file systems; the file's own number has to do.
      return fields[5].split(separator: ":").last.flatMap { UInt64($0) } == identity.number
    }
  }
}
