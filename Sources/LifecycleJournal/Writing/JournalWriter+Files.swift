import AppLifecycle

// Opening, locking and changing the file.

extension JournalWriter {
  /// Opens the first available file among the names that the configuration allows; later calls open the same file
  /// again.
  mutating func openAvailable() throws(JournalFailure) {
    if isFound { return try open() }
    // The number of programs that write at the same time, and of files that are not journals.
    var (program, beside) = (1, 0)
    while true {
      do throws(JournalFailure) {
        let name = JournalFiles.own(program, of: try followed(asked))
        path = try followed(JournalFiles.beside(beside, of: name))
        try open()
        isFound = true
        return
      } catch {
        path = asked
        switch error.operation {
        case .lock where configuration.contention == .ownFile && program < 1_000: (program, beside) = (program + 1, 0)
        case .recognize where configuration.foreignFile == .beginBeside && beside < 1_000: beside += 1
        default: throw error
        }
      }
    }
  }

  /// Returns the file to which a path leads; a path to something else is returned unchanged, and the system then
  /// refuses to open it.
  private func followed(_ path: String) throws(JournalFailure) -> String {
    if let status = try? files.status(at: path), !status.isRegular { return path }
    do throws(FileError) {
      return try JournalFiles.followed(path, files: files) { link throws(FileError) in
        try JournalFiles.checkOwner(ofLink: link, files: files)
        return true
      }
    } catch {
      throw JournalFailure(.open, path, error)
    }
  }

  /// Opens the file again after a failure, and continues the run in it.
  mutating func reopen(at instant: Duration) throws(JournalFailure) {
    try openAvailable()
    try beginFile(at: instant)
  }

  mutating func release() {
    if let file { close(file) }
    // The length at which to try again is one of this file; the next one has the maximum.
    (file, nextRotation) = (nil, nil)
  }

  /// Opens the file at the path, and takes its lock.
  private mutating func open() throws(JournalFailure) {
    // Another program may replace the file between the open and the lock. Then the new file counts, so try again.
    for _ in 0..<100 {
      let descriptor = try openOrMake()
      switch lock(descriptor) {
      case .success(let locked?):
        file = locked
        hasNewNames = true
        isTorn = !endsWithLineEnd(descriptor)
        return removeSecondName(of: locked.identity)
      case .success(nil): files.close(descriptor)
      case .failure(let failure):
        files.close(descriptor)
        throw failure
      }
    }
    throw JournalFailure(.lock, path, reason: "another program replaces the file again and again")
  }

  /// Takes the lock of an open file; returns nil if the path leads to another file by now.
  private func lock(_ descriptor: Int32) -> Result<OpenFile?, JournalFailure> {
    do throws(FileError) {
      let status = try files.status(of: descriptor)
      guard status.isRegular else { return .failure(JournalFailure(.open, path, reason: "not a regular file")) }
      guard try files.lock(descriptor) else {
        return .failure(JournalFailure(.lock, path, reason: "another program writes it"))
      }
      guard try files.status(at: path).identity == status.identity else { return .success(nil) }
      // Read the status again: the file may have grown before the lock.
      let size = try files.status(of: descriptor).size
      if size > 0, try !JournalBeginning.isJournal(path, files: files) { return .failure(.foreign(path)) }
      return .success(
        OpenFile(descriptor: descriptor, identity: status.identity, size: size, limit: files.sizeLimit()))
    } catch {
      return .failure(JournalFailure(.open, path, error))
    }
  }

  private mutating func openOrMake() throws(JournalFailure) -> Int32 {
    do throws(FileError) {
      return try files.makingDirectory(of: path, willMake: { hasNewDirectories = true }) { () throws(FileError) in
        try files.openForAppending(path, exclusively: false)
      }
    } catch {
      throw JournalFailure(.open, path, error)
    }
  }

  /// Returns whether the file is empty or ends with a line feed.
  func endsWithLineEnd(_ descriptor: Int32) -> Bool {
    guard let size = try? files.status(of: descriptor).size else { return false }
    guard size > 0 else { return true }
    return (try? FileSource(path, files: files).read(1, at: size - 1)) == [0x0A]
  }

  /// Removes a second name of the file, which a program that died during a rotation may have left.
  private func removeSecondName(of identity: FileStatus.Identity) {
    let name = JournalFiles.kept(1, of: path)
    if let status = try? files.status(at: name), status.identity == identity { try? files.remove(name) }
  }

  /// Closes the file if another program has removed or renamed it: readers would not find records there.
  mutating func noticeLossOfFile() {
    guard let file else { return }
    let names = (try? files.status(of: file.descriptor).names) ?? 0
    do throws(FileError) {
      if try files.status(at: path).identity == file.identity { return }
    } catch {
      // The look itself may fail, as another user or for the network; then the open file still is the journal.
      guard error == .noSuchFile || names == 0 else { return }
    }
    release()
    // A renamed file keeps its records; they count as lost only if the file has no name left.
    if names == 0 { noteLoss(of: file, "the file was removed") }
  }

  /// Counts the records of a file that is no more, also among those of an outage.
  private mutating func noteLoss(of file: OpenFile, _ reason: String) {
    guard file.records > 0 else { return }
    let failure = JournalFailure(.write, path, reason: reason)
    var outage = self.outage ?? Outage(failure: failure, since: header.instant, lost: 0, isReported: false)
    outage.lost += file.records
    outage.since = min(outage.since, header.instant)
    self.outage = outage
  }

  /// Closes the file if another program has truncated it: further lines would belong to no run.
  mutating func noticeCut() {
    self.file?.limit = files.sizeLimit()
    guard let file, let size = try? files.status(of: file.descriptor).size, size < file.size else { return }
    release()
    noteLoss(of: file, "the file was truncated")
  }

  // MARK: Putting the file aside

  mutating func postponeRotation() {
    guard let maximum = configuration.maximumSize, let file else { return }
    nextRotation = Int(file.size) + max(maximum / 4, 1)
  }

  /// Renames the full file and continues in a new one; at every moment there is a file under the path, and it is
  /// locked.
  mutating func rotate(at instant: Duration) throws(JournalFailure) {
    guard let old = file else { return }
    try checkNames()
    let next = nextHeader(at: instant)
    do throws(FileError) {
      // When a record is flushed, all records before it are on the disk.
      if case .never = configuration.flush {} else { try files.flush(old.descriptor) }
      let fresh = try makeFile(beginningWith: next)
      do throws(FileError) {
        dropSurplus()
        try shiftKeptFiles()
        try files.rename("\(path).new", to: path)
      } catch {
        files.close(fresh.descriptor)
        try? files.remove("\(path).new")
        // With its second name, the file would take the place of a kept one at each further attempt.
        if (try? files.status(at: path).identity) == old.identity { removeSecondName(of: old.identity) }
        throw error
      }
      file = fresh
      // At every moment a crash has a file for its line.
      armCrashLine(at: instant)
      close(old)
      hasNewNames = true
    } catch {
      throw JournalFailure(.rotate, path, error)
    }
    header = next
    clock = JournalClockMark(of: next)
    isTorn = false
  }

  /// Checks the names that a rotation needs: it must not move or remove a file that is not a journal.
  ///
  /// It reads the beginning of each file every time: another program may have replaced one since the last rotation, and
  /// the system may have given the new file the identity of the old one.
  private func checkNames() throws(JournalFailure) {
    _ = try isOwn("\(path).new")
    var number = 1
    while number <= configuration.keptFiles, try isOwn(JournalFiles.kept(number, of: path)) { number += 1 }
  }

  /// Returns whether a name has a journal, or the beginning of one; false if there is no file.
  ///
  /// Throws if the file is not a journal.
  private func isOwn(_ name: String) throws(JournalFailure) -> Bool {
    do throws(FileError) {
      guard let status = try files.standing(at: name, followingLinks: true) else { return false }
      if status.isRegular, try JournalBeginning.isJournal(name, files: files) { return true }
    } catch {
      throw JournalFailure(.rotate, path, error)
    }
    throw JournalFailure(
      .rotate, path, reason: "\(name) is not a journal, and is not changed")
  }

  private func makeFile(beginningWith header: RunHeader) throws(FileError) -> OpenFile {
    let name = "\(path).new"
    // A program that died may have left this file. No program uses it now, because this one holds the journal's lock.
    try? files.remove(name)
    let descriptor = try files.openForAppending(name, exclusively: true)
    do throws(FileError) {
      guard try files.lock(descriptor) else { throw FileError.exists }
      let status = try files.status(of: descriptor)
      var file = OpenFile(
        descriptor: descriptor, identity: status.identity, size: status.size, limit: files.sizeLimit())
      let line = Array((header.jsonLine + "\n").utf8)
      try line.withUnsafeBufferPointer { (line) throws(FileError) in
        try Self.write(UnsafeRawBufferPointer(line), to: file, files)
      }
      file.size = Int64(line.count)
      file.headerLength = file.size
      return file
    } catch {
      files.close(descriptor)
      try? files.remove(name)
      throw error
    }
  }

  /// Removes the files of a time when more were kept, the oldest first.
  ///
  /// Not after the shift, and not the newest first: a program that died meanwhile would leave files of which those in
  /// between are gone. What is no journal stays, and so does what cannot be removed: it takes no name that is needed.
  private func dropSurplus() {
    let surplus = JournalFiles.existing(after: max(configuration.keptFiles, 0), of: path, files: files)
    for (name, _) in surplus.reversed() where (try? isOwn(name)) == true && !isBeingWritten(name) {
      try? files.remove(name)
    }
  }

  /// Whether another program has the lock of a file, which then is a journal of its own.
  private func isBeingWritten(_ name: String) -> Bool {
    guard let descriptor = try? files.openForReading(name) else { return true }
    defer { files.close(descriptor) }
    return (try? files.lock(descriptor)) != true
  }

  /// Renames the kept files up to the first free number, and gives the journal's file the first number.
  private func shiftKeptFiles() throws(FileError) {
    let count = configuration.keptFiles
    guard count > 0 else { return }
    var free = 1
    while free < count, try files.standing(at: JournalFiles.kept(free, of: path), followingLinks: true) != nil {
      free += 1
    }
    for number in stride(from: free, to: 1, by: -1) {
      try files.rename(JournalFiles.kept(number - 1, of: path), to: JournalFiles.kept(number, of: path))
    }
    let first = JournalFiles.kept(1, of: path)
    do throws(FileError) {
      // If only one file is kept, it has this name; remove it.
      try? files.remove(first)
      try files.link(path, as: first)
    } catch {
      // Some file systems have no hard links; there the path has no file for a moment.
      try files.rename(path, to: first)
    }
  }
}
