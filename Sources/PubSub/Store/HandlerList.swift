/// Who subscribes to a topic, or to one subject of it, as writers see it: a buffer for each priority, highest first.
struct HandlerList {
  struct Segment {
    let priority: Int
    var buffer: HandlerBuffer
    /// How many of its handlers still stand.
    var living: Int
  }

  var segments: [Segment] = []

  var isEmpty: Bool { segments.allSatisfy { $0.living == 0 } }

  /// Where the segment of a priority is, or where it would be.
  func index(of priority: Int) -> (index: Int, exists: Bool) {
    // Almost always there is one.
    for (index, segment) in segments.enumerated() where segment.priority <= priority {
      return (index, segment.priority == priority)
    }
    return (segments.count, false)
  }

  func directory(subjects: SubjectTable?) -> Directory {
    Directory(segments.map(\.buffer), priorities: segments.map(\.priority), subjects: subjects)
  }
}

/// Who subscribes to one subject; the writers' view.
final class SubjectEntry {
  /// Keeps the subject's address from being given to another object, and keeps nothing of it alive.
  private unowned let subject: AnyObject
  var list = HandlerList()
  /// What the readers see of the list.
  var published: Directory?

  init(_ subject: AnyObject) { self.subject = subject }
}
