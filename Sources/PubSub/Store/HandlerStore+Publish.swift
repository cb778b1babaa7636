internal import CPubSub

// What readers are shown, and when what they were shown before is freed.

extension HandlerStore {
  /// Shows readers the present state.
  func publish() {
    if list.segments.count > 1 || table != nil { usesDirectory = true }
    let root: UnsafeRawPointer? =
      if list.segments.isEmpty && subjects.isEmpty {
        nil
      } else if usesDirectory {
        list.directory(subjects: table).root
      } else {
        UnsafeRawPointer(list.segments[0].buffer.base)
      }
    if let former = topic.pointee.root {
      // Also if nothing is taken out: readers of the former root read buffers that the new one names, too.
      if retirement == nil { retirement = Retirement(under: former) }
      if pubsub_is_directory(former) { retire(.directory(Directory(root: former))) }
    }
    Hook.step("publish: swap the root")
    pubsub_store_pointer(&topic.pointee.root, root)
    Hook.step("publish: the root has been swapped")
    retirement?.didPublish(root)
  }

  /// Shows readers the present state of a subject.
  func publish(_ entry: SubjectEntry, _ key: UnsafeRawPointer) {
    if let former = entry.published { retire(.directory(former)) }
    entry.published = entry.list.segments.isEmpty ? nil : entry.list.directory(subjects: nil)
    table?.set(key, entry.published)
    guard entry.published == nil else { return }
    subjects[key] = nil
    // With its last handler a subject may have been the last of all.
    if subjects.isEmpty, list.segments.isEmpty { publish() }
  }

  /// Keeps what was taken out until no thread can read it.
  func retire(_ garbage: Garbage) {
    if retirement == nil { retirement = Retirement(under: topic.pointee.root) }
    retirement?.retire(garbage)
  }

  /// Frees what no thread can read any more, and sees to it that the rest will be freed.
  func reclaim(into released: inout Released) {
    retirement?.reclaim(into: &released)
    if mayReplaceRoot, isRead(topic.pointee.root) { replaceRoot() }
    guard settle() else { return }
    // A post that left before it could see the flag does not scan, but is nearly always seen to have left by now.
    retirement?.reclaim(into: &released)
    settle()
  }

  /// So many roots may be read at once; more would cost memory without end while one handler does not return.
  private static let mostRoots = 8
  /// A buffer of so many handlers is copied rather than that every post to it looks what it could free.
  private static let cheapToCopy = 256

  private var mayReplaceRoot: Bool {
    guard let retirement else { return false }
    return retirement.waitsForPresentRoot && retirement.rootCount < Self.mostRoots
  }

  /// Publishes the same handlers anew, so that posts that enter from now on do not delay the backlog.
  private func replaceRoot() {
    guard topic.pointee.root != nil else { return }
    if !usesDirectory {
      let segment = list.segments[0]
      guard segment.buffer.end <= Self.cheapToCopy else { return }
      list.segments[0].buffer = segment.buffer.copy(living: segment.living)
      retire(.buffer(segment.buffer))
    }
    publish()
  }

  /// Has posts look for what waits, as far as anything does; true if they did not before.
  @discardableResult
  private func settle() -> Bool {
    if retirement?.isEmpty == true { retirement = nil }
    // A drain may wait for a poster that protected a former root for a moment, before its second look, and that leaves the
    // present one: while there is a drain, every leaving post scans.
    let wanted =
      switch retirement.map({ $0.waitsForPresentRootAlone || $0.hasActions }) {
      case nil: 0
      case false?: Int(PUBSUB_RECLAIM)
      case true?: Int(PUBSUB_RECLAIM | PUBSUB_URGENT)
      }
    guard wanted != flags else { return false }
    Hook.step("settle: set the topic's flags")
    let added = wanted & ~flags
    let removed = flags & ~wanted
    flags = wanted
    if removed != 0 { pubsub_clear_bits(&topic.pointee.flags, removed) }
    if added != 0 { pubsub_set_bits(&topic.pointee.flags, added) }
    return added != 0
  }

  /// Calls once no post that could run a cancelled handler is under way.
  ///
  /// - Returns: false if none is, and the action was not taken.
  func whenUnread(_ action: @escaping @Sendable () -> Void, into released: inout Released) -> Bool {
    guard retirement?.isRead ?? isRead(topic.pointee.root) else { return false }
    retire(.action(action))
    replaceRoot()
    settle()
    Hook.step("drain: look again for readers")
    // A post that left before it could see the flag does not scan. After the barrier such a post is known to have left, and any
    // other will scan.
    pubsub_barrier()
    retirement?.reclaim(into: &released)
    settle()
    return true
  }
}
