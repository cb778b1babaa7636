internal import CPubSub

// The general path of a post: order reversed, several priorities, subjects, sticky events, observers, deep nesting.

extension HandlerStore {
  /// Posts an event; what the fast path cannot do.
  final func postGenerally(
    _ event: UnsafeRawPointer, from subject: (any AnyObject & Sendable)?, in core: BusCore
  ) {
    let record = pubsub_record_of_thread()
    let depth = pubsub_depth(record)
    guard depth < topic.pointee.limit else { return core.refuse(name, record) }
    // A subscription that is made from here on has this identifier or a later one, and does not see this post.
    let firstUnseen = willPost(event, from: subject, in: core)
    let root = pubsub_enter(record, depth, topic)
    let isReceived = root.map { deliver(event, from: subject, $0, before: firstUnseen, record, depth) } ?? false
    pubsub_leave(record, depth)
    if !isReceived { wasNotReceived(event, in: core) }
    pubsub_settle(topic, root)
  }

  /// Delivers to all handlers that a root shows; returns whether one received the event.
  private func deliver(
    _ event: UnsafeRawPointer, from subject: AnyObject?, _ root: UnsafeRawPointer, before firstUnseen: UInt64,
    _ record: UnsafeMutablePointer<pubsub_record>, _ depth: Int
  ) -> Bool {
    var run = Run(
      event: event, firstUnseen: firstUnseen, isReversed: traits.contains(.reversed), record: record, depth: depth)
    guard pubsub_is_directory(root) else {
      run.deliver(HandlerBuffer(root: root))
      return run.isReceived
    }
    let all = Directory(root: root)
    let key = subject.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
    run.deliver(all, key.flatMap { all.subjects?.handlers(of: $0) })
    return run.isReceived
  }

  /// One post on its way through the handlers.
  private struct Run {
    let event: UnsafeRawPointer
    let firstUnseen: UInt64
    let isReversed: Bool
    let record: UnsafeMutablePointer<pubsub_record>
    let depth: Int
    var isReceived = false

    private mutating func call(_ buffer: HandlerBuffer, _ index: Int) {
      guard buffer.entries[index].id < firstUnseen else { return }
      let function = pubsub_function_of(buffer.handlers + index)
      if function == pubsub_cancelled() { return }
      record.pointee.unheard = -1
      pubsub_call(function, buffer.handlers[index].context, event)
      if record.pointee.unheard != depth { isReceived = true }
    }

    mutating func deliver(_ buffer: HandlerBuffer) {
      let end = buffer.end
      for step in 0..<end { call(buffer, isReversed ? end - 1 - step : step) }
    }

    /// Two lists in one order: priority first, then time of subscription, which the identifiers tell.
    private mutating func merge(_ one: HandlerBuffer, _ other: HandlerBuffer) {
      let (oneCount, otherCount) = (one.end, other.end)
      var (oneStep, otherStep) = (0, 0)
      while oneStep < oneCount || otherStep < otherCount {
        let oneIndex = isReversed ? oneCount - 1 - oneStep : oneStep
        let otherIndex = isReversed ? otherCount - 1 - otherStep : otherStep
        let takesOne =
          otherStep == otherCount
          || (oneStep < oneCount && (one.entries[oneIndex].id < other.entries[otherIndex].id) != isReversed)
        if takesOne {
          call(one, oneIndex)
          oneStep += 1
        } else {
          call(other, otherIndex)
          otherStep += 1
        }
      }
    }

    mutating func deliver(_ all: Directory, _ ofSubject: Directory?) {
      let (allCount, subjectCount) = (all.count, ofSubject?.count ?? 0)
      var (allStep, subjectStep) = (0, 0)
      while allStep < allCount || subjectStep < subjectCount {
        let allIndex = isReversed ? allCount - 1 - allStep : allStep
        let subjectIndex = isReversed ? subjectCount - 1 - subjectStep : subjectStep
        let priority = allStep < allCount ? all.priority(allIndex) : nil
        let subjectPriority = subjectStep < subjectCount ? ofSubject?.priority(subjectIndex) : nil
        if let ofSubject, let subjectPriority {
          if priority == subjectPriority {
            merge(all.buffer(allIndex), ofSubject.buffer(subjectIndex))
            allStep += 1
            subjectStep += 1
            continue
          }
          if priority == nil || (subjectPriority > priority!) != isReversed {
            deliver(ofSubject.buffer(subjectIndex))
            subjectStep += 1
            continue
          }
        }
        deliver(all.buffer(allIndex))
        allStep += 1
      }
    }
  }
}
