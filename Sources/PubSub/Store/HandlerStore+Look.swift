internal import CPubSub

// The subscriptions, for lists and for posts that wait.

extension HandlerStore {
  /// A subscription in the order of delivery.
  struct Standing {
    let entry: HandlerBuffer.Entry
    let priority: Priority
    let handler: pubsub_handler
  }

  /// All subscriptions, in no order.
  var all: [Standing] { (subjects.values.map(\.list) + [list]).flatMap(standing) }

  /// The receivers of a post from a subject, in the order of delivery; the caller holds the lock.
  func recipients(from subject: AnyObject?) -> [Recipient] {
    let key = subject.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
    let ofSubject = subjects.isEmpty ? nil : key.flatMap { subjects[$0]?.list }
    var recipients: [Recipient] = []
    recipients.reserveCapacity(list.living + (ofSubject?.living ?? 0))
    add(list, to: &recipients)
    // One list is in order already; two are merged.
    if let ofSubject {
      add(ofSubject, to: &recipients)
      recipients.sort { $0.priority != $1.priority ? $0.priority > $1.priority : $0.id < $1.id }
    }
    if traits.contains(.reversed) { recipients.reverse() }
    return recipients
  }

  private func add(_ list: HandlerList, to recipients: inout [Recipient]) {
    for segment in list.segments {
      let buffer = segment.buffer
      for place in 0..<buffer.end where !buffer.isCancelled(at: place) {
        let entry = buffer.entries[place]
        let registration = entry.site == HandlerBuffer.Entry.registered ? registrations[entry.id] : nil
        recipients.append(
          Recipient(
            Standing(
              entry: entry, priority: Priority(rawValue: segment.priority), handler: buffer.handlers[place]),
            registration?.subscriber ?? core.sites.subscriber(at: entry.site), registration))
      }
    }
  }

  private func standing(in list: HandlerList) -> [Standing] {
    list.segments.flatMap { segment in
      let buffer = segment.buffer
      return buffer.standing.map { place in
        Standing(
          entry: buffer.entries[place], priority: Priority(rawValue: segment.priority), handler: buffer.handlers[place])
      }
    }
  }
}
