import Scheduling

/// A value that handlers and tests share.
final class Shared<Value: Sendable>: Sendable {
  private let guarded: Guarded<Value>

  init(_ value: Value) { guarded = Guarded(value) }

  var value: Value {
    get { guarded.withLock { $0 } }
    set { guarded.withLock { $0 = newValue } }
  }

  func append<Element: Sendable>(_ element: Element) where Value == [Element] {
    guarded.withLock { $0.append(element) }
  }
}
