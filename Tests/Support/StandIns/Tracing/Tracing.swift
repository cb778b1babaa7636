import PubSub
import Scheduling

// As much of swift-distributed-tracing's `Tracing` as the documentation's adapter uses, with the same names and types. Not the
// library: it collects what it is given, for tests to look at.

private let collected = Guarded<[String]>([])

/// What the spans did since this was last asked.
package func takeSpanLines() -> [String] {
  collected.withLock { lines in
    defer { lines = [] }
    return lines
  }
}

/// A piece of work.
package protocol Span: AnyObject {
  var attributes: SpanAttributes { get set }
  func setStatus(_ status: SpanStatus)
  func end()
}

/// What is known of a span, by key.
package struct SpanAttributes {
  fileprivate var values: [String: String] = [:]

  package subscript(_ key: String) -> String? {
    get { values[key] }
    set { values[key] = newValue }
  }
}

/// How a span ended.
package struct SpanStatus {
  package enum Code: String { case ok, error }

  fileprivate let code: Code
  fileprivate let message: String?

  package init(code: Code, message: String? = nil) { (self.code, self.message) = (code, message) }
}

/// Begins a span.
package func startSpan(_ operationName: String) -> any Span { CollectedSpan(operationName) }

private final class CollectedSpan: Span {
  private let name: String
  private var status: SpanStatus?
  var attributes = SpanAttributes()

  init(_ name: String) {
    self.name = name
    collected.withLock { $0.append("begin \(name)") }
  }

  func setStatus(_ status: SpanStatus) { self.status = status }

  func end() {
    let pairs = attributes.values.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
    let outcome = status.map { " \($0.code.rawValue): \($0.message ?? "")" } ?? ""
    collected.withLock { $0.append("end \(name)\(pairs)\(outcome)") }
  }
}
