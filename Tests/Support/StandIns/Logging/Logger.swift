import Scheduling

// As much of swift-log's `Logging` as the documentation's listings use: names, labels, isolation, types and results as in swift-log
// 1.14.0, of which they were read. Not the library: it collects what it is given, for tests to look at.

/// Collects messages.
package struct Logger: Sendable {
  package enum Level: String, Codable, CaseIterable, Sendable {
    case trace, debug, info, notice, warning, error, critical
  }

  /// Text with values in it.
  package struct Message: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, Equatable,
    CustomStringConvertible, Sendable
  {
    package let description: String
    package init(stringLiteral value: String) { description = value }
  }

  package typealias Metadata = [String: MetadataValue]

  /// A value that goes with a message.
  package enum MetadataValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, CustomStringConvertible,
    Sendable
  {
    case string(String)
    case stringConvertible(any CustomStringConvertible & Sendable)

    package init(stringLiteral value: String) { self = .string(value) }

    package var description: String {
      switch self {
      case .string(let text): text
      case .stringConvertible(let value): String(describing: value)
      }
    }
  }

  @TaskLocal fileprivate static var bound: Logger?

  /// The logger that `withLogger` has bound.
  package static var current: Logger { bound ?? Logger(label: "") }

  package let label: String
  private let collected = SharedLines()

  package init(label: String) { self.label = label }

  /// What was logged: `level text key=value`.
  ///
  /// Not of the library.
  package var lines: [String] { collected.lines.withLock { $0 } }

  package func log(
    level: Logger.Level, _ message: @autoclosure () -> Logger.Message,
    metadata: @autoclosure () -> Logger.Metadata? = nil, file: String = #fileID, function: String = #function,
    line: UInt = #line
  ) {
    let pairs = (metadata() ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
    let text = message().description
    collected.lines.withLock { $0.append("\(level.rawValue) \(text)\(pairs.joined())") }
  }

  package func debug(
    _ message: @autoclosure () -> Logger.Message, metadata: @autoclosure () -> Logger.Metadata? = nil,
    file: String = #fileID, function: String = #function, line: UInt = #line
  ) { log(level: .debug, message(), metadata: metadata()) }

  package func info(
    _ message: @autoclosure () -> Logger.Message, metadata: @autoclosure () -> Logger.Metadata? = nil,
    file: String = #fileID, function: String = #function, line: UInt = #line
  ) { log(level: .info, message(), metadata: metadata()) }

  package func warning(
    _ message: @autoclosure () -> Logger.Message, metadata: @autoclosure () -> Logger.Metadata? = nil,
    file: String = #fileID, function: String = #function, line: UInt = #line
  ) { log(level: .warning, message(), metadata: metadata()) }
}

private final class SharedLines: Sendable {
  let lines = Guarded<[String]>([])
}

/// Binds a logger around an operation.
package func withLogger<Result, Failure: Error>(
  _ logger: Logger, _ operation: (Logger) throws(Failure) -> Result
) throws(Failure) -> Result {
  do {
    return try Logger.$bound.withValue(logger) { try operation(logger) }
  } catch {
    throw error as! Failure
  }
}

/// Binds a logger around an asynchronous operation, on the actor of the caller.
package nonisolated(nonsending) func withLogger<Result, Failure: Error>(
  _ logger: Logger, _ operation: nonisolated(nonsending) (Logger) async throws(Failure) -> Result
) async throws(Failure) -> Result {
  do {
    return try await Logger.$bound.withValue(logger) { try await operation(logger) }
  } catch {
    throw error as! Failure
  }
}
