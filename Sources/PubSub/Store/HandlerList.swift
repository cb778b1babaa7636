/// The writers' view of the handlers of a topic, or of one of its subjects: a buffer for each priority, highest first.
struct HandlerList {
  struct Segment {
    var buffer: HandlerBuffer
    /// The number of handlers that are not cancelled; never zero.
    var living: Int
    var priority: Int { buffer.priority }
  }

  var segments: [Segment] = []

  /// Returns the index of the segment of a priority, or the index at which it would be inserted.
  func index(of priority: Int) -> (index: Int, exists: Bool) {
    // A linear search: almost every list has one segment.
    for (index, segment) in segments.enumerated() where segment.priority <= priority {
      return (index, segment.priority == priority)
    }
    return (segments.count, false)
  }

  /// Returns the segment and the place of a handler; nil if it is cancelled or absent.
  func find(_ id: UInt64) -> (segment: Int, place: Int)? {
    for index in segments.indices {
      let buffer = segments[index].buffer
      if let place = buffer.index(of: id), !buffer.isCancelled(at: place) { return (index, place) }
    }
    return nil
  }

  /// The entries of all handlers that are not cancelled, with their priorities.
  var standing: [(entry: HandlerBuffer.Entry, priority: Int)] {
    segments.flatMap { segment in
      segment.buffer.standing.map { (segment.buffer.entries[$0], segment.priority) }
    }
  }

  func directory(subjects: SubjectTable?) -> Directory { Directory(segments.map(\.buffer), subjects: subjects) }
}

/// The writers' view of the handlers of one subject.
final class SubjectEntry {
  /// The unowned reference keeps the subject's memory allocated, so no other object gets its address; it does not keep
  /// the object alive.
  private unowned let subject: AnyObject
  var list = HandlerList()
  /// The directory that readers see; nil if the list is empty.
  var published: Directory?

  init(_ subject: AnyObject) { self.subject = subject }
}
