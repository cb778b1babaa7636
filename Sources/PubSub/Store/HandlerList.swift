/// The handlers of a topic, or of one subject of it, as writers see them: a buffer for each priority, highest first.
struct HandlerList {
  struct Segment {
    let priority: Int
    var buffer: HandlerBuffer
    /// How many of its handlers still stand; never zero.
    var living: Int
  }

  var segments: [Segment] = []

  /// Where the segment of a priority is, or where it would be.
  func index(of priority: Int) -> (index: Int, exists: Bool) {
    // Almost always there is one.
    for (index, segment) in segments.enumerated() where segment.priority <= priority {
      return (index, segment.priority == priority)
    }
    return (segments.count, false)
  }

  /// Where a handler stands, if it does.
  func find(_ id: UInt64) -> (segment: Int, place: Int)? {
    for index in segments.indices {
      let buffer = segments[index].buffer
      if let place = buffer.index(of: id), !buffer.isCancelled(at: place) { return (index, place) }
    }
    return nil
  }

  /// How many handlers stand.
  var living: Int { segments.reduce(0) { $0 + $1.living } }

  /// No handler that stands has a lower identifier.
  var lowestID: UInt64? { segments.lazy.map { $0.buffer.entries[0].id }.min() }

  func directory(subjects: SubjectTable?) -> Directory {
    Directory(segments.map(\.buffer), priorities: segments.map(\.priority), subjects: subjects)
  }
}

/// The handlers of one subject, as writers see them.
final class SubjectEntry {
  /// Keeps the subject's address from being given to another object, and keeps nothing of it alive.
  private unowned let subject: AnyObject
  var list = HandlerList()
  /// What the readers see of the list.
  var published: Directory?

  init(_ subject: AnyObject) { self.subject = subject }
}
