import AppLifecycle

// Room for the lines that say how a run ends, and what happens when there is no other.

extension JournalWriter {
  /// The room that a line leaves for lines that matter more.
  enum Room: Int64 {
    /// Any line.
    case ordinary = 8_192
    /// A change of state, and what else precedes a suspension.
    case change = 1_024
    /// What precedes the end of the process.
    case last = 0

    init(for record: LifecycleRecord) {
      if record.precedesDeath {
        self = .last
      } else if record.kind == .state || record.precedesSuspensionOrDeath {
        self = .change
      } else {
        self = .ordinary
      }
    }
  }

  /// The room that is reserved at a time, so that a line seldom costs a call.
  private static let step: Int64 = 65_536

  /// Makes sure that there is room for bytes, and for the lines that matter more.
  ///
  /// A file system that cannot reserve room is used without. Some file systems hold the limit on file sizes against the
  /// room, too, and the system ends the process beyond it.
  mutating func reserve(_ count: Int, leaving room: Room) throws(JournalFailure) {
    guard let file else { return }
    let most = file.limit ?? .max
    guard file.size + Int64(count) + min(room.rawValue, most / 4) <= most else {
      throw JournalFailure(.write, path, .fileTooLarge)
    }
    let end = min(file.size + Int64(count) + room.rawValue, most)
    guard room != .last, file.canReserve, end > file.reserved else { return }
    do throws(FileError) {
      do throws(FileError) {
        try reserve(upTo: min(end + Self.step, most))
      } catch {
        guard error.isLackOfRoom else { throw error }
        try reserve(upTo: end)
      }
    } catch {
      if error.isLackOfRoom { throw JournalFailure(.write, path, error) }
      self.file?.canReserve = false
    }
  }

  private mutating func reserve(upTo end: Int64) throws(FileError) {
    guard let file else { return }
    try files.reserve(end - file.size, from: file.size, in: file.descriptor)
    self.file?.reserved = end
  }

  /// Gives back the room that was not used.
  func releaseReserve(of file: OpenFile) {
    // A forked child's journal is its parent's. Another program may have changed the file, and its bytes are not this
    // journal's to cut.
    guard !files.isForked, file.reserved > file.size, let size = try? files.status(of: file.descriptor).size,
      size == file.size
    else { return }
    try? files.truncate(file.descriptor, to: size)
  }

  /// Says in the journal that it cannot be written from here on.
  ///
  /// Without reserved room the short line may still fit into the last block of the file.
  mutating func noteStop(at instant: Duration) {
    guard let outage, file != nil else { return }
    let text = JournalStop(instant: instant, error: outage.failure.description).jsonLine + "\n"
    do throws(JournalFailure) {
      try reserve(text.utf8.count, leaving: .change)
      try write(text)
    } catch {}
  }

  /// Appends the present line during an outage, if it may use the reserved room; returns whether it is in the file.
  mutating func appendInReserve(at instant: Duration, leaving room: Room) -> Bool {
    guard room != .ordinary, file != nil else { return false }
    do throws(JournalFailure) {
      // The last line of a run also counts the lines that are missing.
      let gap = room == .last ? outage.map { self.gap(of: $0, at: instant) } : nil
      let before = if let gap, gap.lost > 0 { gap.jsonLine + "\n" } else { "" }
      try reserve(before.utf8.count + line.count, leaving: room)
      try write(before + line.text)
      if !before.isEmpty { outage?.lost = 0 }
      return true
    } catch {
      return false
    }
  }

  func gap(of outage: Outage, at instant: Duration) -> JournalGap {
    JournalGap(since: outage.since, instant: instant, lost: outage.lost, error: outage.failure.description)
  }

  // MARK: Crashes

  /// Lets a crash append its line to the file.
  mutating func armCrashLine(at instant: Duration) {
    guard let open = file else { return }
    disarmCrashLine(of: open)
    file?.crashSlot = files.armCrashLine(of: open.descriptor, at: instant, limit: open.limit)
  }

  func disarmCrashLine(of file: OpenFile) {
    if let slot = file.crashSlot { files.disarmCrashLine(slot) }
  }

  /// Closes an open file, after giving back what belongs to it.
  func close(_ file: OpenFile) {
    disarmCrashLine(of: file)
    releaseReserve(of: file)
    files.close(file.descriptor)
  }
}

extension LifecycleRecord {
  /// Whether the process may end right after this record.
  fileprivate var precedesDeath: Bool {
    switch kind {
    case .state: state == .notRunning
    case .delegate: name == ApplicationCallback.willTerminate.rawValue
    case .notification: state != .suspended && name == Self.willTerminate
    case .input, .task, .report, .ignored: false
    }
  }
}
