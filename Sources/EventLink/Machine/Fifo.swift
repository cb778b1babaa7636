/// A queue in an array; taking the first element costs constant time on average.
struct Fifo<Element> {
  private var elements: [Element?] = []
  private var head = 0

  var isEmpty: Bool { count == 0 }
  var count: Int { elements.count - head }
  var first: Element? { isEmpty ? nil : elements[head] }

  subscript(place: Int) -> Element {
    // Elements before `head` alone are nil.
    get { elements[head + place]! }
    set { elements[head + place] = newValue }
  }

  mutating func append(_ element: Element) { elements.append(element) }

  @discardableResult mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    defer {
      elements[head] = nil
      head += 1
      if head == elements.count || head > 64 && head * 2 > elements.count {
        elements.removeFirst(head)
        head = 0
      }
    }
    return elements[head]
  }

  /// Removes an element; takes time in proportion to its place.
  mutating func remove(at place: Int) {
    for index in stride(from: head + place, to: head, by: -1) { elements[index] = elements[index - 1] }
    popFirst()
  }

  mutating func removeAll() { (elements, head) = ([], 0) }
}

extension Fifo: Sendable where Element: Sendable {}
