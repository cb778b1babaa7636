import AppLifecycle
import LibC
import PubSub
import Scheduling

/// The logind part of a host's thread: its state machine and its connection.
///
/// It exists only on Linux, in a package that was built with the trait `Logind`.
struct LogindWatch {
  var machine = LogindStateMachine()
  let connection: any LogindConnection
  /// The queue of events from the application.
  let answers: HostLink<LogindStateMachine.Event>
  var deadline: SuspendingClock.Instant?
  /// The availability that was published last.
  var availability: HostCapability.Availability?

  init(connection: any LogindConnection, waker: WakePipe) {
    self.connection = connection
    answers = HostLink(waker: waker)
  }

  /// The availability before logind has been asked.
  static var availability: HostCapability.Availability {
    #if Logind && os(Linux)
      .unavailable("logind has not answered yet")
    #elseif os(Linux)
      .unavailable("the package was built without its trait Logind")
    #else
      .unavailable("there is no logind on this system")
    #endif
  }

  /// Creates the watch of the machine's logind; nil if the package was built without the trait.
  static func live(waker: WakePipe) -> LogindWatch? {
    #if Logind && os(Linux)
      LogindWatch(connection: LogindBus(), waker: waker)
    #else
      nil
    #endif
  }
}

// MARK: - In the host's loop

extension HostThread {
  /// Whether the machine is about to sleep, or sleeps, so that the application must receive no inputs.
  final var isAsleep: Bool { logind?.machine.isAsleep ?? false }

  /// The descriptors to poll.
  final var logindDescriptors: [pollfd] { logind.map { [$0.connection.descriptor] } ?? [] }

  final var logindDeadline: Instant? {
    guard let logind else { return nil }
    return [logind.deadline, logind.connection.deadline].compactMap { $0 }.min()
  }

  final func beginLogind() {
    logind?.connection.begin()
    tellCapabilities()
  }

  /// Handles the events of logind, of the application and of time.
  final func takeLogind(_ now: Instant) {
    guard let logind, !isFinished else { return }
    for event in logind.answers.take() { tellLogind(event) }
    for event in logind.connection.take() { tellLogind(event) }
    if self.logind?.deadline.hasCome(by: now) == true { tellLogind(.deadlinePassed) }
    tellCapabilities()
  }

  /// Passes an event to the state machine, and performs its effects.
  final func tellLogind(_ event: LogindStateMachine.Event) {
    for effect in logind?.machine.handle(event) ?? [] { perform(effect) }
  }

  final func endLogind() {
    tellLogind(.hostEnds)
    logind?.connection.close()
  }

  private func perform(_ effect: LogindStateMachine.Effect) {
    switch effect {
    case .requestInhibitor: logind?.connection.requestInhibitor()
    case .releaseInhibitor: logind?.connection.releaseInhibitor()
    case .pass(let delivery): give(delivery)
    case .send(let delivery): give(delivery, answers: false)
    case .suspend(let id, let budget): suspend(id, within: budget)
    case .revokeSuspension: parts.mailbox.send { [application = parts.application] in application.revokeSuspensions() }
    case .armDeadline(let duration): logind?.deadline = duration.map { .now + $0 }
    case .reportDelay(let delay):
      HostMessage(.error, "logind no longer waits for the tear-down: its delay of \(delay) has passed").send()
    }
  }

  private func suspend(_ id: Int, within budget: Duration) {
    parts.mailbox.send { [application = parts.application, answers = logind?.answers] in
      let report = await application.handleSuspension(cause: "sleep", within: budget)
      answers?.send(.suspensionEnded(id: id, from: report.from, to: report.to))
    }
  }

  /// Publishes the availability of logind whenever it changes.
  private func tellCapabilities() {
    guard let availability = logind?.connection.availability, availability != logind?.availability else { return }
    logind?.availability = availability
    parts.mailbox.send {
      if !HostCapability.ofRunningHost.isEmpty { HostCapability.ofRunningHost[.session] = availability }
    }
  }
}
