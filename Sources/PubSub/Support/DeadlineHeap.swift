/// A heap of deadlines, each with an action; earliest first.
struct DeadlineHeap<Action: Sendable>: Sendable {
  typealias ID = Deadlines.ID

  private var heap: [(time: Duration, id: ID)] = []
  /// The actions of the deadlines.
  ///
  /// A cleared deadline has none; it is removed from the heap later.
  private var actions: [ID: Action] = [:]

  var isEmpty: Bool { actions.isEmpty }

  /// The earliest deadline; nil if there is none.
  var earliest: Duration? {
    mutating get {
      while let first = heap.first, actions[first.id] == nil { removeFirst() }
      return heap.first?.time
    }
  }

  /// Inserts a deadline with an identifier that no other one has.
  mutating func insert(_ time: Duration, _ id: ID, _ action: Action) {
    actions[id] = action
    heap.append((time, id))
    siftUp(heap.count - 1)
  }

  /// Removes a deadline; returns nil if there is none with this identifier.
  mutating func remove(_ id: ID) -> Action? {
    let action = actions.removeValue(forKey: id)
    if heap.count > 2 * actions.count + 32 {
      heap.removeAll { actions[$0.id] == nil }
      heap.sort(by: isOrdered)
    }
    return action
  }

  /// Removes the deadlines that are due, and returns them in order.
  mutating func takeDue(at now: Duration) -> [(id: ID, action: Action)] {
    var due: [(id: ID, action: Action)] = []
    while let first = heap.first, first.time <= now || actions[first.id] == nil {
      removeFirst()
      if let action = actions.removeValue(forKey: first.id) { due.append((first.id, action)) }
    }
    return due
  }

  private func isOrdered(_ one: (time: Duration, id: ID), _ other: (time: Duration, id: ID)) -> Bool {
    (one.time, one.id) < (other.time, other.id)
  }

  private mutating func siftUp(_ start: Int) {
    var index = start
    while index > 0, isOrdered(heap[index], heap[(index - 1) / 2]) {
      heap.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var index = 0
    while true {
      var first = index
      for child in 2 * index + 1...2 * index + 2 where child < heap.count && isOrdered(heap[child], heap[first]) {
        first = child
      }
      if first == index { return }
      heap.swapAt(index, first)
      index = first
    }
  }
}
