import AppLifecycle

/// Decides when the host looks whether its signals are still its own, and what it reports.
///
/// A library that traps SIGTERM itself replaces the host's handler. Such a library usually does so when a resource or a
/// body of the program starts it, so the host looks thoroughly after each of these, a few times. The handlers
/// alone cost less than a microsecond, and the host looks at them whenever its thread is awake.
///
/// An order that arrives before a look goes to the library alone, whose run then returns. The host looks at such a
/// return, too, and takes it for the order if SIGTERM was with a handler or signalfd of other code during the run.
///
/// The type is pure.
struct SignalWatch: Sendable, Hashable {
  /// The other code that had a signal of the host.
  enum Holder: Sendable, Hashable {
    /// A handler in this file; nil if the file is unknown.
    case handler(library: String?)
    /// A signalfd, such as that of a dispatch source.
    case descriptor
    /// Code that ignored the signal.
    case ignoringCode
    /// Code that restored the signal's default action.
    case restoringCode
  }

  /// A signal that the host has taken back.
  struct Finding: Sendable, Hashable {
    /// The signal.
    var signal: CaughtSignal
    /// The code that had it.
    var holder: Holder
  }

  /// The delay between a beginning and the second thorough look at the signals; the first one is immediate.
  private static let firstDelay = Duration.milliseconds(20)
  /// The factor by which the delay grows.
  private static let growth = 50
  /// The delay before the last look.
  ///
  /// That look has no deadline, because the host's thread wakes up once a second in any case.
  private static let lastDelay = Duration.seconds(1)

  /// The time of the next thorough look; nil if none is due.
  private var next: Duration?
  /// The delay before the look after that one.
  private var delay = Self.firstDelay
  private var known: Set<CaughtSignal> = []
  /// The signals that were found to wait for a thread of a library; they never leave it.
  private var stuck: Set<CaughtSignal> = []
  /// The findings to report.
  private var unreported: [Finding] = []
  /// The time of the latest look that found SIGTERM with code that may have received it; nil if none did, or a return was
  /// explained by it.
  private var orderWasElsewhere: Duration?

  /// The time at which the host's thread must wake up for a look; nil if it need not.
  var deadline: Duration? { delay > Self.lastDelay ? nil : next }

  /// Notes that code of the program may have begun to run, such as a resource; a look follows at once.
  mutating func begin(at now: Duration) { (next, delay) = (now, Self.firstDelay) }

  /// Whether a thorough look is due, which includes the signalfds.
  func isThorough(at now: Duration) -> Bool { next.map { now >= $0 } ?? false }

  /// Whether a look has found a signal with other code, so that one may be stuck.
  var hasFindings: Bool { !known.isEmpty }

  /// Handles the signals that wait for a thread of a library, and returns those that have arrived since the last look.
  ///
  /// - Parameters:
  ///   - signals: the signals.
  ///   - now: the time of the look.
  /// - Returns: a record for each that was not found before.
  mutating func takeStuck(_ signals: [CaughtSignal], at now: Duration) -> [SignalRecord] {
    signals.filter { stuck.insert($0).inserted }.map { SignalRecord(signal: $0, arrived: now, taken: now) }
  }

  /// Handles the result of a look, and returns a message.
  ///
  /// A library takes one signal after another, so the message follows with the first look that finds no further one.
  ///
  /// - Parameters:
  ///   - findings: the signals that the host has taken back.
  ///   - now: the time of the look.
  /// - Returns: the message about signals that have not been reported; nil if there is none.
  mutating func take(_ findings: [Finding], at now: Duration) -> HostMessage? {
    if findings.contains(where: { $0.signal == .terminate && $0.holder.mayReceive }) { orderWasElsewhere = now }
    let new = findings.filter { known.insert($0.signal).inserted }
    unreported += new
    if !new.isEmpty {
      // A dispatch source installs its handler first, and its signalfd a moment later.
      (next, delay) = (now + Self.firstDelay, Self.firstDelay * Self.growth)
    } else if isThorough(at: now) {
      next = delay > Self.lastDelay ? nil : now + delay
      delay *= Self.growth
      return finish()
    }
    return nil
  }

  /// Returns the message about signals that have not been reported, before the end of the host; nil if there are none.
  mutating func finish() -> HostMessage? {
    defer { unreported = [] }
    return unreported.isEmpty ? nil : HostMessage(.warning, Self.text(about: unreported))
  }

  /// Whether the end of a loop or body may be that of a library which has received an order.
  ///
  /// An error is an end of the library's own. A return after which the loop or body rests posts no event.
  static func mayFollowAnOrder(error: String?, _ sequel: Application.RunDidEnd.Sequel) -> Bool {
    guard error == nil else { return false }
    switch sequel {
    case .again, .invalidate: return true
    case .rest, .shutDown, .throwToCaller, .close, .over: return false
    }
  }

  /// Handles the return of a loop or body that was not asked to end, after a look.
  ///
  /// - Parameters:
  ///   - run: the loop or body.
  ///   - now: the time of the look.
  ///   - budget: the time that code has to end after an order.
  /// - Returns: the order that the loop or body has received alone, which arrived at the look that found it elsewhere at the
  ///   latest, and the message about it; nil if it returned by itself.
  mutating func takeReturn(
    of run: ReturnedRun, at now: Duration, within budget: Duration
  ) -> (order: SignalRecord, message: HostMessage)? {
    // A run that began after that look cannot have received what came before it.
    guard let time = orderWasElsewhere, now - time <= budget, run.began <= time else { return nil }
    orderWasElsewhere = nil
    let message = HostMessage(
      .warning, "“\(run.name.bounded)” returned while other code had SIGTERM; the host takes this for an order to end")
    return (SignalRecord(signal: .terminate, arrived: time, taken: now), message)
  }

  private static func text(about findings: [Finding]) -> String {
    var holders: [Holder] = []
    for finding in findings where !holders.contains(finding.holder) { holders.append(finding.holder) }
    let facts = holders.map { holder in
      let names = findings.filter { $0.holder == holder }.map(\.signal.rawValue).joined(separator: " and ")
      return "\(names) \(holder.fact)"
    }
    let object = findings.count == 1 ? "it" : "them"
    return "\(facts.joined(separator: ", ")); the host has taken \(object) back. Configure the library without signals "
      + "of its own, such as “gracefulShutdownSignals: []”"
  }
}

extension SignalWatch.Holder {
  /// Whether the code may have received the signal: one that is ignored is lost, and the default action ends the process.
  fileprivate var mayReceive: Bool {
    switch self {
    case .handler, .descriptor: true
    case .ignoringCode, .restoringCode: false
    }
  }

  fileprivate var fact: String {
    switch self {
    case .handler(let library): "had a handler of other code" + (library.map { " (in \($0))" } ?? "")
    case .descriptor: "had a signalfd of other code"
    case .ignoringCode: "had been set to be ignored"
    case .restoringCode: "had lost the host's handler"
    }
  }
}
