/// The handlers of a topic, or of one subject of it, as writers see them: a buffer for each priority, highest first.
struct HandlerList {
  struct Segment {
    var buffer: HandlerBuffer
    /// How many of its handlers still stand; never zero.
    var living: Int
    var priority: Int { buffer.priority }
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

  /// The entries of all that stand, with their priorities.
  var standing: [(entry: HandlerBuffer.Entry, priority: Int)] {
    segments.flatMap { segment in
      segment.buffer.standing.map { (segment.buffer.entries[$0], segment.priority) }
    }
  }

  func directory(subjects: SubjectTable?) -> Directory { Directory(segments.map(\.buffer), subjects: subjects) }
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
