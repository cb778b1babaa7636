import AppLifecycle
import PubSub

/// A message of a host for a person: a budget was overrun, a resource cannot be acquired, the program cannot start.
///
/// Messages are lines on standard error, with the program's name before them, unless the program redirects them:
///
///     HostMessage.redirect { message in
///       logger.log(level: message.severity == .notice ? .notice : .error, "\(message.text)")
///     }
public struct HostMessage: Sendable, Hashable {
  /// How much a message matters.
  public enum Severity: String, Sendable, Hashable, CaseIterable {
    /// Something works again, or the program runs in another way than it was started for.
    case notice
    /// Something failed, and is tried again or done without.
    case warning
    /// The program cannot start, or something was cut off.
    case error
  }

  /// How much it matters.
  public let severity: Severity
  /// One line without its end.
  ///
  /// Characters that a terminal would obey are escaped, as `\u{1B}`.
  public let text: String

  /// A message, for tests of a sink.
  public init(_ severity: Severity, _ text: String) { (self.severity, self.text) = (severity, text.escaped) }

  // MARK: The sink

  private static let sink = Guarded<MessageSink?>(nil)

  /// Hands every further message of the process's hosts to a sink.
  ///
  /// The sink is called on a thread of its own, with one message after another. The host's thread waits for the sink's return, because
  /// the message may be the last before the process ends; but it waits for a quarter of a second at most. Messages that the sink
  /// has not taken by then go to standard error, and so does every further message until the sink returns. A sink that is
  /// replaced may still be running.
  ///
  /// May be called from any thread, also before a host runs.
  ///
  /// - Parameter sink: receives the messages; nil for standard error.
  public static func redirect(to sink: (@Sendable (HostMessage) -> Void)?) {
    redirect(to: sink, patience: MessageSink.patience)
  }

  /// As ``redirect(to:)``, with another time that a sender waits for the sink.
  static func redirect(to sink: (@Sendable (HostMessage) -> Void)?, patience: Duration) {
    let former = Self.sink.withLock { present in
      defer { present = sink.map { MessageSink(patience: patience, $0) } }
      return present
    }
    // Released outside of the lock: the end of what it captured may redirect again.
    withExtendedLifetime(former) {}
  }

  /// Gives the message to the sink, or writes it to standard error.
  ///
  /// - Parameter waits: whether to wait until the sink has returned; the main actor does not.
  func send(waits: Bool = true) {
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
  /// Names the budget that was overrun, and what overran it.
  ///
  /// - Parameters:
  ///   - overrun: the budget, and what the main actor has named.
  ///   - openCalls: what has begun and not ended; where the main actor names nothing, it is to be found there.
  init(_ overrun: BudgetOverrun, openCalls: [TracedCall] = []) {
    let reason =
      overrun.culprits.isEmpty ? Self.silence(in: openCalls) : overrun.culprits.joined(separator: ", ")
    // The delegate's method may have taken no time at all: the budget is for all that follows from the call.
    let what = overrun.callback == .shouldTerminate ? "" : "the tear-down of "
    self.init(.error, "\(what)\(overrun.callback.rawValue) overran its budget of \(overrun.budget): \(reason)")
  }

  /// Why the main actor does not answer.
  private static func silence(in calls: [TracedCall]) -> String {
    if let call = calls.last(where: \.isSynchronous) {
      // An observer and a delegate's method are called for one thing alone.
      let step = call.kind == .subscriber ? ", handler of \(call.step)," : ""
      return "\(call.name)\(step) blocks the main actor"
    }
    let begun = calls.map { "\($0.name) (\($0.step))" }
    return "the main actor did not answer"
      + (begun.isEmpty ? "" : "; begun and not ended: \(begun.joined(separator: ", "))")
  }
}
