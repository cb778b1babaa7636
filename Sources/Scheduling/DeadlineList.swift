/// Deadlines in the order in which they pass, each with an action.
///
/// It is a sorted array: most deadlines are later than all that are set, and so come and go at its end. Among ten thousand, an
/// insertion before all others moves half a megabyte.
struct DeadlineList: Sendable {
  typealias Action = @Sendable () -> Void

  private var deadlines: [(id: Deadlines.ID, action: Action)] = []
  private var lastNumber: UInt64 = 0

  /// The earliest deadline; nil if there is none.
  var earliest: Duration? { deadlines.first?.id.time }

  mutating func insert(_ time: Duration, _ action: @escaping Action) -> Deadlines.ID {
    lastNumber += 1
    let id = Deadlines.ID(time: time, number: lastNumber)
    deadlines.insert((id, action), at: index(of: id))
    return id
  }

  /// Removes a deadline, and returns its action, which the caller must release without a lock; nil if it has passed.
  mutating func remove(_ id: Deadlines.ID) -> Action? {
    let index = index(of: id)
    return index < deadlines.count && deadlines[index].id == id ? deadlines.remove(at: index).action : nil
  }

  /// Removes the deadlines that are due, and returns their actions in order.
  mutating func takeDue(at now: Duration) -> [Action] {
    let due = deadlines.prefix { $0.id.time <= now }
    defer { deadlines.removeFirst(due.count) }
    return due.map(\.action)
  }

  /// Returns the index of a deadline, or that at which it is to be inserted.
  private func index(of id: Deadlines.ID) -> Int {
    var (first, end) = (0, deadlines.count)
    while first < end {
      let middle = (first + end) / 2
      if deadlines[middle].id < id { first = middle + 1 } else { end = middle }
    }
    return first
  }
}
