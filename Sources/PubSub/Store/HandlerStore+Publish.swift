internal import CPubSub

// Publishing a topic's handlers to readers, and freeing former versions.

extension HandlerStore {
  /// Publishes the present handlers to readers, as a new root.
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
      // Begin a retirement even if nothing is retired yet: readers of the former root also read buffers that the new
      // root names.
      if retirement == nil { retirement = Retirement(under: former) }
      if pubsub_is_directory(former) { retire(.directory(Directory(root: former))) }
    }
    Hook.step("publish: swap the root")
    pubsub_store_pointer(&topic.pointee.root, root)
    Hook.step("publish: the root has been swapped")
    retirement?.didPublish(root)
  }

  /// Publishes the present handlers of a subject to readers.
  func publish(_ entry: SubjectEntry, _ key: UnsafeRawPointer) {
    if let former = entry.published { retire(.directory(former)) }
    entry.published = entry.list.segments.isEmpty ? nil : entry.list.directory(subjects: nil)
    table?.set(key, entry.published)
    guard entry.published == nil else { return }
    subjects[key] = nil
    // This may have been the last handler of the topic; then the root must become nil.
    if subjects.isEmpty, list.segments.isEmpty { publish() }
  }

  /// Keeps removed memory, or an action, until no thread can read what was reachable before.
  func retire(_ garbage: Garbage) {
    if retirement == nil { retirement = Retirement(under: topic.pointee.root) }
    retirement?.retire(garbage)
  }

  /// Frees the garbage that no thread can read, and sets the topic's flags so that leaving posts free the rest.
  func reclaim(into released: inout Released) {
    retirement?.reclaim(into: &released)
    if mayReplaceRoot, isRead(topic.pointee.root) { replaceRoot() }
    guard settle() else { return }
    // A post that left before it could see the flag does not scan. This second scan almost always finds that such a
    // post has left.
    retirement?.reclaim(into: &released)
    settle()
  }

  /// The largest number of roots that may wait for readers; without a limit, memory would grow while one handler does
  /// not return.
  private static let mostRoots = 8
  /// The largest buffer, in handlers, that is copied to get a new root; with a larger one, every leaving post looks for
  /// garbage.
  private static let cheapToCopy = 256

  private var mayReplaceRoot: Bool {
    guard let retirement else { return false }
    return retirement.waitsForPresentRoot && retirement.rootCount < Self.mostRoots
  }

  /// Publishes the same handlers under a new root, so that posts that begin from now on do not delay the reclaiming of
  /// garbage.
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

  /// Sets the topic's flags so that leaving posts look for garbage, if any waits; returns true if it set a flag that
  /// was not set.
  @discardableResult
  private func settle() -> Bool {
    if retirement?.isEmpty == true { retirement = nil }
    // A poster stores the root, and checks again whether it still is the root. So for a moment it may protect a former
    // root, for which a drain waits, although it then reads and leaves the present one. While a drain waits, every
    // leaving post therefore scans.
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

  /// Calls the action when no post that could run a cancelled handler is under way.
  ///
  /// - Returns: false if no such post is under way; the action was not stored.
  func whenUnread(_ action: @escaping @Sendable () -> Void, into released: inout Released) -> Bool {
    guard retirement?.isRead ?? isRead(topic.pointee.root) else { return false }
    retire(.action(action))
    replaceRoot()
    settle()
    Hook.step("drain: look again for readers")
    // A post that left before it could see the flag does not scan. After the barrier, this thread sees that such a post
    // has left; every other post sees the flag and scans.
    pubsub_barrier()
    retirement?.reclaim(into: &released)
    settle()
    return true
  }
}
