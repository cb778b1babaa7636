import PubSub
import Scheduling

// As much of swift-distributed-tracing's `Tracing` as the documentation's listings use: names, labels, isolation, types and results as
// in swift-distributed-tracing 1.4.1, of which they were read. Not the library: it collects what it is given, for tests to look at.

private let collected = Guarded<[String]>([])

/// What the spans did since this was last asked, with the spans around each: `begin launch > database`.
///
/// Not of the library.
package func takeSpanLines() -> [String] {
  collected.withLock { lines in
    defer { lines = [] }
    return lines
  }
}

/// A piece of work.
package protocol Span: Sendable {
  var context: ServiceContext { get }
  var operationName: String { get nonmutating set }
  func setStatus(_ status: SpanStatus)
  var attributes: SpanAttributes { get nonmutating set }
  func end()
}

package enum SpanKind: Sendable { case server, client, producer, consumer, `internal` }

package protocol SpanAttributeConvertible { func toSpanAttribute() -> SpanAttribute }

package enum SpanAttribute: Equatable, Sendable, SpanAttributeConvertible {
  case string(String)
  package func toSpanAttribute() -> SpanAttribute { self }
}

extension String: SpanAttributeConvertible {
  package func toSpanAttribute() -> SpanAttribute { .string(self) }
}

/// What is known of a span, by key.
package struct SpanAttributes: Equatable, Sendable {
  fileprivate var values: [String: SpanAttribute] = [:]

  package subscript(_ name: String) -> (any SpanAttributeConvertible)? {
    get { values[name] }
    set { values[name] = newValue?.toSpanAttribute() }
  }
}

/// How a span ended.
package struct SpanStatus: Equatable, Sendable {
  package enum Code: String, Sendable { case ok, error }

  package let code: Code
  package let message: String?

  package init(code: Code, message: String? = nil) { (self.code, self.message) = (code, message) }
}

/// Begins a span, which its caller ends.
package func startSpan(
  _ operationName: String, context: @autoclosure () -> ServiceContext = .current ?? .topLevel,
  ofKind kind: SpanKind = .internal, function: String = #function, file fileID: String = #fileID, line: UInt = #line
) -> any Span { CollectedSpan(operationName, in: context()) }

/// Runs an operation in a span of its own.
package func withSpan<T>(
  _ operationName: String, context: @autoclosure () -> ServiceContext = .current ?? .topLevel,
  ofKind kind: SpanKind = .internal, function: String = #function, file fileID: String = #fileID, line: UInt = #line,
  _ operation: (any Span) throws -> T
) rethrows -> T {
  let span = CollectedSpan(operationName, in: context())
  defer { span.end() }
  do {
    return try ServiceContext.$current.withValue(span.context) { try operation(span) }
  } catch {
    span.record(error)
    throw error
  }
}

/// Runs an asynchronous operation in a span of its own, on the actor of the caller.
package func withSpan<T>(
  _ operationName: String, context: @autoclosure () -> ServiceContext = .current ?? .topLevel,
  ofKind kind: SpanKind = .internal, isolation: isolated (any Actor)? = #isolation, function: String = #function,
  file fileID: String = #fileID, line: UInt = #line, _ operation: (any Span) async throws -> T
) async rethrows -> T {
  let span = CollectedSpan(operationName, in: context())
  defer { span.end() }
  do {
    return try await ServiceContext.$current.withValue(span.context) { try await operation(span) }
  } catch {
    span.record(error)
    throw error
  }
}

private final class CollectedSpan: Span {
  private struct State {
    var name: String
    var status: SpanStatus?
    var attributes = SpanAttributes()
  }

  let context: ServiceContext
  private let state: Guarded<State>

  init(_ name: String, in outer: ServiceContext) {
    state = Guarded(State(name: name))
    var context = outer
    context.path.append(name)
    self.context = context
    let line = "begin \(context.path.joined(separator: " > "))"
    collected.withLock { $0.append(line) }
  }

  var operationName: String {
    get { state.withLock { $0.name } }
    set { state.withLock { $0.name = newValue } }
  }

  var attributes: SpanAttributes {
    get { state.withLock { $0.attributes } }
    set { state.withLock { $0.attributes = newValue } }
  }

  func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }

  func record(_ error: any Error) { setStatus(SpanStatus(code: .error, message: String(describing: error))) }

  func end() {
    let state = state.withLock { $0 }
    let pairs = state.attributes.values.sorted { $0.key < $1.key }.map { key, value in
      switch value {
      case .string(let text): " \(key)=\(text)"
      }
    }
    let outcome = state.status.map { " \($0.code.rawValue): \($0.message ?? "")" } ?? ""
    let line = "end \(context.path.joined(separator: " > "))\(pairs.joined())\(outcome)"
    collected.withLock { $0.append(line) }
  }
}
