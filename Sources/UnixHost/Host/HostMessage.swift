import AppLifecycle
import PubSub

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What a host has to say to a person: a budget that was overrun, a resource that cannot be acquired, a program that cannot start.
///
/// Messages are lines on standard error, with the program's name before them, unless the program redirects them:
///
///     HostMessage.redirect { message in
///       logger.log(level: message.severity == .notice ? .notice : .error, "\(message.text)")
///     }
public struct HostMessage: Sendable, Hashable {
  /// How much a message matters.
  public enum Severity: String, Sendable, Hashable, CaseIterable {
    /// Something is in order again, or works in another way than was perhaps expected.
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
  /// What would command a terminal is made visible.
  public let text: String

  /// A message, for tests of a sink.
  public init(_ severity: Severity, _ text: String) { (self.severity, self.text) = (severity, text.escaped) }

  // MARK: The sink

  private struct Route: Sendable {
    var sink: (@Sendable (HostMessage) -> Void)?
    /// How many calls of sinks have not returned.
    var calls = 0
  }

  private static let route = Guarded(Route())
  /// How long a sink may take before a host goes on without it, in milliseconds.
  private static let patience: Int32 = 250

  /// Hands every further message of the process's hosts to a sink.
  ///
  /// The sink is called on a thread of its own, for one message after another, and the host waits for it: a quarter of a second at
  /// most, as the message may be the last before the program is ended. A message whose sink has not returned by then, and each
  /// further one until it returns, is written to standard error.
  ///
  /// May be called from any thread, also before a host runs.
  ///
  /// - Parameter sink: receives the messages; nil for standard error.
  public static func redirect(to sink: (@Sendable (HostMessage) -> Void)?) { route.withLock { $0.sink = sink } }

  /// Gives a message to the sink, or writes it to standard error.
  func send() {
    let sink = Self.route.withLock { route in
      guard route.calls == 0, let sink = route.sink else { return (@Sendable (HostMessage) -> Void)?.none }
      route.calls += 1
      return sink
    }
    guard let sink else { return write() }
    let end = WakePipe()
    let isStarted = NativeThread.start {
      sink(self)
      Self.route.withLock { $0.calls -= 1 }
      end.wake()
    }
    guard isStarted else {
      Self.route.withLock { $0.calls -= 1 }
      return write()
    }
    var waiting = pollfd(fd: end.descriptor, events: Int16(POLLIN), revents: 0)
    if end.descriptor < 0 || poll(&waiting, 1, Self.patience) <= 0 { write() }
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
    self.init(.error, "\(overrun.callback.rawValue) overran its budget of \(overrun.budget): \(reason)")
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
