import AppLifecycle
import PubSub
import Scheduling

/// A message of a host to the user: a budget was overrun, a resource cannot be acquired, or the program cannot start.
///
/// By default each message is a line on standard error, after the program's name. The program can redirect the messages
/// of all hosts, and a host of your own sends its messages the same way, with ``send(waits:)``:
///
///     HostMessage.redirect { message in
///       logger.log(level: Logger.Level(rawValue: message.severity.rawValue) ?? .error, "\(message.text)")
///     }
public struct HostMessage: Sendable, Hashable {
  /// The severity of a message.
  public enum Severity: String, Sendable, Hashable, CaseIterable {
    /// A resource works again, or the program runs in another mode than it was started for.
    case notice
    /// An operation failed; the host retries it or continues without it.
    case warning
    /// The program cannot start, or code was cut off.
    case error
  }

  /// The severity of the message.
  public let severity: Severity
  /// The text of the message: one line, without a line end.
  ///
  /// Control characters are escaped, such as `\u{1B}`.
  public let text: String

  /// Creates a message of a host of your own, or for the test of a sink.
  ///
  /// - Parameters:
  ///   - severity: the severity.
  ///   - text: the text, whose control characters are escaped.
  public init(_ severity: Severity, _ text: String) { (self.severity, self.text) = (severity, text.printable) }

  // MARK: The sink

  private static let sink = Guarded<MessageSink?>(nil)

  /// Redirects all further messages of the process's hosts to a sink.
  ///
  /// The sink runs on a thread of its own, and receives one message after another. The message may be the last one
  /// before the process ends, so the host's thread waits for the sink to return, for at most a quarter of a second. If
  /// the sink has not returned by then, this message and all further ones go to standard error until it returns. A sink
  /// may still be running when another one replaces it.
  ///
  /// Any thread may call it, also before a host runs.
  ///
  /// - Parameter sink: the closure that receives the messages; nil for standard error.
  public static func redirect(to sink: (@Sendable (HostMessage) -> Void)?) {
    redirect(to: sink, patience: MessageSink.patience)
  }

  /// Redirects messages to a sink, with a time for which a sender waits for the sink.
  static func redirect(to sink: (@Sendable (HostMessage) -> Void)?, patience: Duration) {
    let former = Self.sink.withLock { present in
      defer { present = sink.map { MessageSink(patience: patience, $0) } }
      return present
    }
    // Release the sink outside the lock, because the release of its captured objects may redirect again.
    withExtendedLifetime(former) {}
  }

  /// Passes the message to the sink, or writes it to standard error; any thread may call it.
  ///
  ///     HostMessage(.warning, "the display does not answer").send(waits: false)
  ///
  /// - Parameter waits: whether to wait until the sink has returned, for at most a quarter of a second. Wait if the
  ///   message may be the last one before the process ends. Pass false on the main actor. Standard error is written to
  ///   before the method returns.
  public func send(waits: Bool = true) {
    guard let sink = Self.sink.withLock({ $0 }) else { return write() }
    for message in sink.take(self, waits: waits) { message.write() }
  }

  private func write() {
    let program = CommandLine.arguments.first?.split(separator: "/").last ?? "program"
    StandardError.writeLine("\(program): \(text)")
  }
}

// MARK: - Overruns

extension HostMessage {
  /// Creates the message about an overrun budget and the code that overran it.
  ///
  /// - Parameters:
  ///   - overrun: the budget, and the code that the main actor has named.
  ///   - openCalls: the calls that have begun and not ended; if the main actor names no code, the message names one of
  ///     them.
  init(_ overrun: BudgetOverrun, openCalls: [TracedCall] = []) {
    if let operation = overrun.operation {
      let names = overrun.culprits.joined(separator: ", ")
      self.init(.error, "the \(operation.rawValue) of \(names) overran its budget of \(overrun.budget)")
      return
    }
    let reason =
      overrun.culprits.isEmpty ? Self.silence(in: openCalls) : overrun.culprits.joined(separator: ", ")
    // The budget covers all code that follows from the delegate call, which may itself have taken no time.
    let what = overrun.callback == .shouldTerminate ? "" : "the tear-down of "
    let shortage = overrun.threadShortage.map { "; \($0.rawValue)" } ?? ""
    self.init(
      .error, "\(what)\(overrun.callback.rawValue) overran its budget of \(overrun.budget): \(reason)\(shortage)")
  }

  /// Returns the reason why the main actor does not answer.
  static func silence(in calls: [TracedCall]) -> String {
    if let call = calls.last(where: \.isSynchronous) {
      // The name of a delegate method or an observer already says why it was called.
      let step = call.kind == .subscriber ? ", handler of \(call.step)," : ""
      return "\(call.name)\(step) blocks the main actor"
    }
    let begun = calls.map { "\($0.name) (\($0.step))" }
    return "the main actor did not answer"
      + (begun.isEmpty ? "" : "; begun and not ended: \(begun.joined(separator: ", "))")
  }
}
