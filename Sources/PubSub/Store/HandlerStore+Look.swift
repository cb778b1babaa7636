internal import CPubSub

// Who subscribes, for lists and for posts that wait.

extension HandlerStore {
  /// One who stands in the order of delivery.
  struct Standing {
    let entry: HandlerBuffer.Entry
    let priority: Priority
    let handler: pubsub_handler
  }

  /// Everybody who subscribes, in no order.
  var all: [Standing] { (subjects.values.map(\.list) + [list]).flatMap(standing) }

  /// Those who stand for a post from a subject, in the order of delivery.
  func standing(for subject: AnyObject?) -> [Standing] {
    let key = subject.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
    let ofSubject = key.flatMap { subjects[$0]?.list }.map(standing) ?? []
    var standing = standing(in: list)
    // One list is in order already; two are merged.
    if !ofSubject.isEmpty {
      standing = (standing + ofSubject).sorted {
        $0.priority != $1.priority ? $0.priority > $1.priority : $0.entry.id < $1.entry.id
      }
    }
    return traits.contains(.reversed) ? standing.reversed() : standing
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
