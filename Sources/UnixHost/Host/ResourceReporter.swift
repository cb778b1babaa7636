import AppLifecycle
import PubSub
import Scheduling

/// Reports managed resources that break or cannot be acquired, and all other errors of the program's code.
///
/// The reports go to standard error and, for a service, into the manager's STATUS.
///
/// Without these reports a service whose port is taken would seem to be starting, and a service that could not save
/// would seem to have ended well.
@MainActor final class ResourceReporter {
  /// Guarded, because code of the program may throw on any thread.
  private nonisolated let reports = Guarded(ResourceReports())
  /// The text that was set last.
  private var lastTrouble: String?
  private var subscriptions: [EventBus.Subscription] = []
  private nonisolated let send: @Sendable (HostMessage) -> Void
  private nonisolated let origin = ContinuousClock.now

  /// Begins to report, until the reporter is released.
  ///
  /// - Parameters:
  ///   - application: the application whose resources are reported.
  ///   - setTrouble: receives the STATUS text whenever it changes; nil when every reported resource is in order again.
  ///   - send: sends a message. By default it does not wait for a sink, because it may run on the main actor.
  init(
    _ application: Application, setTrouble: (@MainActor (String?) -> Void)?,
    send: @escaping @Sendable (HostMessage) -> Void = { $0.send(waits: false) }
  ) {
    self.send = send
    let bus = application.bus
    subscriptions = [
      bus.subscribe(to: Application.ResourceDidChange.self, from: application) { [weak self] event in
        let status = event.application.exitStatus
        guard let self else { return }
        let (message, trouble) = reports.withLock { [time] in ($0.take(event.resource, status, at: time), $0.trouble) }
        message.map(send)
        guard trouble != lastTrouble else { return }
        lastTrouble = trouble
        setTrouble?(trouble)
      },
      bus.subscribe(to: Application.RunDidEnd.self, from: application) { [weak self] event in
        guard let self else { return }
        reports.withLock { [time] in $0.take(event, at: time) }.map(send)
      },
    ]
    bus.observeFailures(for: self) { [weak self] failure in self?.take(failure) }
  }

  private nonisolated func take(_ failure: EventBus.HandlerFailure) {
    reports.withLock { [time] in $0.take(failure, at: time) }.map(send)
  }

  private nonisolated var time: Duration { .now - origin }
}

/// Decides which changes of managed resources are worth a report.
///
/// The type is pure. It reports a failed acquire, or a break of a held resource, at once. It reports a further failure
/// of the same resource if the error differs, or if the delay is noticeably longer than the reported one. When the
/// resource is held again, it reports that in one line.
///
/// The number of lines is limited: ``burst`` lines, and one more for each ``interval``. A failure beyond the limit is
/// reported at a later attempt, when the limit allows it. A recovery is reported if its failure was reported, but not that of a
/// resource that breaks time and again.
struct ResourceReports: Sendable, Hashable {
  /// The report about a resource that is not held.
  private struct Failure: Sendable, Hashable {
    var error: String
    /// The longest delay that was reported with this error.
    var wait: Duration
    /// The number of failures in a row; 0 after a break and before the next attempt.
    var count: Int
    /// The text of the report.
    var text: String
    /// The number of breaks in this row of failures.
    var breaks: Int
    /// Whether the resource is held, although its row of failures may go on.
    var isHeld = false
  }

  /// The number of failures that may be reported in a row.
  static let burst = 100
  /// After ``burst`` lines, one more may be written for each interval that passes.
  static let interval = Duration.seconds(10)
  /// The limit for the length of a name or an error in a report, in Unicode scalars.
  static let textLimit = 300
  /// A delay is reported again if it is longer than the reported one by this factor, which exceeds the jitter of
  /// ``RetryPolicy``.
  private static let growth = 1.25

  /// A line about a loop or body that begins again.
  private struct Ending: Sendable, Hashable {
    var name: String
    var error: String?
    var wait: Duration

    /// Whether the line was written already: the wait has not noticeably grown since.
    func isLike(_ known: Ending, growth: Double) -> Bool {
      name == known.name && error == known.error && wait <= known.wait * growth
    }
  }

  private var failures: [String: Failure] = [:]
  /// The latest lines about loops and bodies that begin again, at most ``burst`` of them.
  private var endings: [Ending] = []
  /// The names in ``failures``, in order of their first report.
  private var names: [String] = []
  /// The names of the resources that broke and are being released.
  private var broken: Set<String> = []
  private var room = Self.burst
  private var lastRefill = Duration.zero
  private var omitted = 0

  /// One line about the reported resources that cannot be acquired; nil if there are none.
  var trouble: String? {
    let texts = names.compactMap { name in failures[name].flatMap { $0.isHeld ? nil : $0.text } }
    guard let first = texts.first else { return nil }
    return texts.count == 1 ? first : "\(first) (and \(texts.count - 1) more)"
  }

  /// Handles a change of a resource's health, and returns a message; ``trouble`` may change without one.
  ///
  /// - Parameters:
  ///   - health: the resource, after its status changed.
  ///   - status: the exit status of the application, if it ends; 0 if it does not.
  ///   - now: the time; between threads it may run backwards by the time between a reading and its use.
  /// - Returns: the message; nil if there is none.
  mutating func take(_ health: ResourceHealth, _ status: Int32 = 0, at now: Duration) -> HostMessage? {
    // The resource stays broken while a dependency is missing, too.
    if case .waiting = health.status { return nil }
    let hasBroken = broken.remove(health.name) != nil && health.lastError != nil
    switch health.status {
    case .retrying(let count): return fail(health, count: count, .wait, hasBroken: hasBroken, at: now)
    case .failed(let count):
      return fail(health, count: count, .giveUp(status), hasBroken: hasBroken, at: now)
    case .acquiring where hasBroken: return fail(health, count: 0, .now, hasBroken: true, at: now)
    case .held:
      guard let failure = failures[health.name], !failure.isHeld else { return nil }
      failures[health.name]?.isHeld = true
      // A resource that breaks time and again has not recovered because it was acquired once more.
      if failure.breaks > 1 { return nil }
      let after = failure.count == 0 ? "again" : "after \(failure.count.failures)"
      return HostMessage(.notice, "“\(health.name.bounded)” has been acquired \(after)")
    // Its phase has closed, so the resource is no longer needed, and its next failure is a new one.
    case .idle where health.failures == 0:
      remove(health.name)
      return nil
    case .releasing:
      if health.isBroken { broken.insert(health.name) }
      return nil
    case .idle, .waiting, .acquiring: return nil
    }
  }

  /// Handles an error of the program's code, and returns a report.
  ///
  /// - Parameters:
  ///   - failure: the error, and the code that threw it.
  ///   - now: the time.
  /// - Returns: the message; nil if the change of a resource's health tells of the error, or the limit is reached.
  mutating func take(_ failure: EventBus.HandlerFailure, at now: Duration) -> HostMessage? {
    guard !failure.isToldByEvent else { return nil }
    let step = failure.eventName.rawValue
    let what =
      switch failure.event == nil ? CallStep(rawValue: step) : nil {
      case .release: "was released with an error"
      case .task, .whileRunning, .whileForeground, .whileActive: "ended with an error"
      case .every: "threw an error, and goes on at its next time"
      case .savedState: "is not complete"
      case .run, .acquire, .check, .invalidate, .use, .backgroundTask, .observe: "threw an error in \(step)"
      case nil: "threw an error \(failure.event == nil ? "in" : "while it handled") \(step.bounded)"
      }
    let error = String(describing: failure.error).bounded
    return report("“\(failure.subscriber.description.bounded)” \(what): \(error)", at: now)
  }

  /// Handles the end of a run loop or body that was not asked to end, and returns a message.
  ///
  /// One that begins again is reported again if its error differs, if its wait is noticeably longer, or if it ran well in between.
  mutating func take(_ end: Application.RunDidEnd, at now: Duration) -> HostMessage? {
    let sequel: String
    var ending: Ending?
    switch end.sequel {
    // The change of the resource's health tells of it.
    case .invalidate: return nil
    case .again(let wait, let failures):
      ending = Ending(name: end.name.bounded, error: end.error?.bounded, wait: wait)
      if failures > 1, endings.contains(where: { ending?.isLike($0, growth: Self.growth) ?? false }) { return nil }
      sequel = "; beginning again in \(wait.inSeconds)"
    case .rest: sequel = "; resting"
    case .shutDown(let status): sequel = "; ending with status \(status)"
    case .throwToCaller, .close, .over: sequel = ""
    }
    let what = end.isBody ? (end.error == nil ? "returned" : "ended") : "ended its loop"
    let error =
      end.error.map { " with an error\(end.sequel == .close ? " as it was closed" : ""): \($0.bounded)" } ?? ""
    let message = report("“\(end.name.bounded)” \(what)\(error)\(sequel)", at: now)
    if message != nil, let ending {
      endings.removeAll { $0.name == ending.name }
      if endings.count == Self.burst { endings.removeFirst() }
      endings.append(ending)
    }
    return message
  }

  /// Returns a warning; nil if the limit is reached, and then the next one counts it.
  private mutating func report(_ text: String, at now: Duration) -> HostMessage? {
    guard takeRoom(at: now) else {
      omitted += 1
      return nil
    }
    defer { omitted = 0 }
    return HostMessage(
      .warning, omitted == 0 ? text : "\(text) (reports left out before this one: \(omitted))")
  }

  /// The next step after a failure.
  private enum Next {
    case now, wait
    case giveUp(Int32)
  }

  private mutating func fail(
    _ health: ResourceHealth, count: Int, _ next: Next, hasBroken: Bool, at now: Duration
  ) -> HostMessage? {
    var breaks = hasBroken ? 1 : 0
    let wasHeld = failures[health.name]?.isHeld ?? false
    if let known = failures[health.name] {
      // It was held for long enough, or its phase closed, and so a new row begins.
      let isNewRow = wasHeld && count <= 1
      if !isNewRow { breaks += known.breaks }
      // The first break of a resource that was held is news, also with an error that is known.
      if isNewRow || (wasHeld && breaks <= 1) { remove(health.name) }
    }
    failures[health.name]?.count = count
    failures[health.name]?.breaks = breaks
    failures[health.name]?.isHeld = false
    let error = (health.lastError ?? "").bounded
    let wait =
      switch next {
      case .now: Duration.zero
      case .wait: health.retryDelay ?? .zero
      // A resource that has failed for good waits for ever.
      case .giveUp: Duration.seconds(Int64.max)
      }
    if let known = failures[health.name], known.error == error, wait <= known.wait * Self.growth {
      return nil
    }
    let sequel =
      switch next {
      case .now: "acquiring it again"
      case .wait: "trying again in \(wait.inSeconds)"
      case .giveUp(0): "given up after \(count.failures)"
      case .giveUp(let status): "given up after \(count.failures); ending with status \(status)"
      }
    let text =
      "“\(health.name.bounded)” \(hasBroken ? (breaks > 1 ? "broke again" : "broke") : "cannot be acquired"): \(error); \(sequel)"
    guard let message = report(text, at: now) else { return nil }
    if failures[health.name] == nil { names.append(health.name) }
    failures[health.name] = Failure(error: error, wait: wait, count: count, text: text, breaks: breaks)
    return message
  }

  private mutating func remove(_ name: String) {
    failures[name] = nil
    names.removeAll { $0 == name }
  }

  private mutating func takeRoom(at now: Duration) -> Bool {
    let gained = Int(((now - lastRefill) / Self.interval).rounded(.down))
    if room + gained >= Self.burst {
      (room, lastRefill) = (Self.burst, now)
    } else {
      room += gained
      lastRefill += Self.interval * gained
    }
    guard room > 0 else { return false }
    room -= 1
    return true
  }
}

extension String {
  /// The text on one line, with control characters escaped, and cut if it is long.
  ///
  /// An error may quote a file or a peer, and so contain control sequences for a terminal.
  var bounded: String { cut(toScalars: ResourceReports.textLimit).printable }
}

extension Int {
  /// The number of failures in words.
  fileprivate var failures: String { self == 1 ? "one failure" : "\(self) failures" }
}
