/// The names of a journal's files: the file that is written, and the full files that are kept.
package enum JournalFiles {
  /// Returns the file to which a path leads, through all symbolic links.
  ///
  /// The kept files are beside the file, not beside the link.
  ///
  /// - Parameters:
  ///   - path: the path.
  ///   - files: the system calls.
  ///   - isFollowed: returns false for a link that is itself the end of the path, or throws an error.
  /// - Returns: the path of the file.
  /// - Throws: the error of a system call, or of `isFollowed`.
  package static func followed(
    _ path: String, files: any FileCalls, if isFollowed: (String) throws(FileError) -> Bool = { _ in true }
  ) throws(FileError) -> String {
    var path = path
    // Linux follows the same number of links.
    for _ in 0...40 {
      guard let target = try files.readLink(path), try isFollowed(path) else { return path }
      path = target.hasPrefix("/") ? target : directory(of: path) + "/" + target
    }
    throw FileError.tooManyLinks
  }

  /// Throws EPERM for a symbolic link that another user may have set as a trap.
  ///
  /// Linux has the same rule for a shared directory, but only where the system follows the link itself: it trusts the
  /// user of this process, and the owner of the directory. Root can lead this user anywhere in any case.
  package static func checkOwner(ofLink link: String, files: any FileCalls) throws(FileError) {
    let owner = try files.status(ofName: link).owner
    guard owner != 0, owner != SystemFiles.user else { return }
    guard try files.status(at: directory(of: link)).owner == owner else { throw .notPermitted }
  }

  /// Returns the name of a kept file; 1 is the newest.
  package static func kept(_ number: Int, of path: String) -> String { "\(path).\(number)" }

  /// Returns all existing files, oldest first, and last the file that is written, whether it exists or not.
  ///
  /// A program that dies during a rotation may leave one file under two names.
  package static func all(of path: String, files: any FileCalls) -> [String] {
    let path = (try? followed(path, files: files)) ?? path
    var seen: Set<FileStatus.Identity> = []
    if let status = try? files.status(at: path) { seen.insert(status.identity) }
    let kept = existing(of: path, files: files).filter { file in
      file.status.isRegular && seen.insert(file.status.identity).inserted
    }
    return kept.map(\.name).reversed() + [path]
  }

  /// Returns what stands under the numbers of kept files that are greater than `count`, the newest first.
  ///
  /// A program that dies during a rotation may leave one number free.
  static func existing(
    after count: Int = 0, of path: String, files: any FileCalls
  ) -> [(name: String, status: FileStatus)] {
    var (found, missing): ([(name: String, status: FileStatus)], Int) = ([], 0)
    for number in count..<Int.max {
      let name = kept(number + 1, of: path)
      if let status = try? files.status(at: name) {
        found.append((name, status))
        missing = 0
      } else if missing == 1 {
        break
      } else {
        missing = 1
      }
    }
    return found
  }

  /// Returns the directory of a path.
  package static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Returns the name for the journal of a further program: `trips.jsonl` becomes `trips-2.jsonl`.
  static func own(_ number: Int, of path: String) -> String {
    let name = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    guard number > 1 else { return path }
    guard let dot = path[name...].lastIndex(of: "."), dot > name else { return "\(path)-\(number)" }
    return "\(path[..<dot])-\(number)\(path[dot...])"
  }

  /// Returns the name beside a file that is not a journal: `notes.txt.journal`, then `notes.txt.journal-2`; 0 is the
  /// file's own name.
  static func beside(_ number: Int, of path: String) -> String {
    switch number {
    case 0: path
    case 1: "\(path).journal"
    default: "\(path).journal-\(number)"
    }
  }
}
