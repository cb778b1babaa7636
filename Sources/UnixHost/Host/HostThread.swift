import AppLifecycle
import CUnixHost
import PubSub

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A host's thread: one `poll` over signals, what the main actor says, and what the kind of host adds.
///
/// Performs what its machine decides, and decides nothing itself. Made and used on that thread alone.
class HostThread<Machine: HostMachine> {
  typealias Event = Machine.Event
  typealias Instant = SuspendingClock.Instant

  /// What the thread works with; handed over to it.
  struct Parts: Sendable {
    var application: Application
    var signals: SignalPipe
    var watch: SystemWatch
    var mailbox = MainActorMailbox()
    var link: HostLink<Event>
    /// Told the exit status when the work is done.
    var didFinish: @Sendable (Int32) -> Void
  }

  let parts: Parts
  var signals: SignalPipe
  var watch: SystemWatch
  var logind: LogindWatch?
  private(set) var machine: Machine
  private var deadline: Instant?
  private(set) var isFinished = false

  init(_ parts: Parts, machine: Machine) {
    self.parts = parts
    signals = parts.signals
    watch = parts.watch
    logind = .live(waker: parts.link.waker)
    self.machine = machine
  }

  // MARK: For the kinds of host

  /// The first event.
  func begin() {}

  /// What is waited for beside signals and the main actor; one that is not wanted now has the descriptor -1.
  var descriptors: [pollfd] { [] }

  /// When the thread has to wake up at the latest.
  var deadlines: [Instant?] { [] }

  /// Takes what is ready of ``descriptors``.
  func take(_ ready: ArraySlice<pollfd>) {}

  /// Does what is due.
  func passTime(_ now: Instant) {}

  /// Performs an effect; its answers are given to the machine afterwards.
  func perform(_ effect: Machine.Effect) -> [Event] { [] }

  /// What follows when the application has handled an input, on the main actor.
  func afterwards(_ delivery: HostDelivery) -> @MainActor @Sendable () -> Void { {} }

  /// The last thing before the process may end.
  func end() {}

  // MARK: The loop

  final func run() {
    unixhost_emergency_install()
    watch.begin()
    begin()
    beginLogind()
    while !isFinished { wait() }
  }

  private func wait() {
    var descriptors = [
      pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: parts.link.waker.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    let watched = watch.descriptors
    descriptors += watched + logindDescriptors + self.descriptors
    let timeout = timeout()
    watch.willWait()
    let count = poll(&descriptors, nfds_t(descriptors.count), timeout)
    // All signals before anything else: what is decided must know of every one that has come.
    let records = takeSignals()
    let wasContinued = records.contains { $0.signal == .continue }
    let suspensions = watch.takeSuspensions(wasContinued: wasContinued)
    // Of a sleep that it was told of before, the application is not told afterwards.
    if logind?.machine.hasToldOfSleep != true { for fact in suspensions { tell(fact) } }
    if !records.isEmpty { process(.signals(records)) }
    for event in parts.link.take() { process(event) }
    guard !isFinished else { return }
    if count > 0 { take(descriptors[(2 + watched.count + logindDescriptors.count)...]) }
    for fact in watch.take(descriptors[2..<(2 + watched.count)]) { tell(fact) }
    let now = Instant.now
    if let time = deadline, now >= time {
      deadline = nil
      process(.deadlinePassed)
    }
    passTime(now)
    takeLogind(now)
  }

  /// How long the SIGCONT that ended a stop may be on its way to another thread's handler, in milliseconds.
  private static var settlingTime: Int32 { 200 }

  private func takeSignals() -> [SignalRecord] {
    var records = signals.drain()
    guard watch.suspectsStop, !records.contains(where: { $0.signal == .continue }) else { return records }
    var waiting = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
    if poll(&waiting, 1, Self.settlingTime) > 0 { records += signals.drain() }
    return records
  }

  private func tell(_ fact: SystemFact) {
    parts.mailbox.send { [application = parts.application] in
      switch fact {
      case .memoryIsShort: application.send(.memoryWarning, cause: "memory pressure")
      case .timeChanged(let change): application.send(.significantTimeChange, cause: change.rawValue)
      case .wasSuspended(let suspension):
        application.bus.post(
          Application.WasSuspended(application: application, suspension: suspension), from: application)
      }
    }
  }

  private func timeout() -> Int32 {
    let next = ([deadline, logindDeadline] + deadlines).compactMap { $0 }.reduce(watch.deadline, min)
    let components = (next - Instant.now).components
    guard components.seconds >= 0, components.attoseconds >= 0 else { return 0 }
    // Rounded up, lest the last millisecond be spent turning in a circle.
    return Int32(clamping: components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 + 1)
  }

  /// Gives the machine an event, performs what it says, and gives it the answers.
  final func process(_ event: Event) {
    var events = [event][...]
    while let next = events.popFirst(), !isFinished {
      for effect in machine.handle(next) { events += perform(effect) }
    }
  }

  // MARK: What all machines want done

  /// Gives the application an input, once the machine does not sleep.
  final func send(_ delivery: HostDelivery) {
    if logind == nil { give(delivery) } else { tellLogind(.hostSends(delivery)) }
  }

  /// Gives the application an input; what follows runs on the main actor when that has been handled.
  final func give(_ delivery: HostDelivery) {
    let then = afterwards(delivery)
    parts.mailbox.send { [application = parts.application, link = parts.link] in
      // A process that obeys an order runs, and its application cannot stay suspended: it would end without a call.
      if delivery.input == .shutDown, application.state == .suspended {
        await application.handle(.wake, cause: delivery.cause)
      }
      let report = await application.handle(delivery.input, cause: delivery.cause)
      then()
      link.send(.transitionFinished(id: delivery.id, overruns: report.overruns))
    }
  }

  /// Says which budget was overrun, and by what; also while the main actor is blocked.
  final func report(_ overrun: BudgetOverrun) {
    HostMessage(overrun, openCalls: parts.application.openCalls).send()
  }

  /// From now on ``HostEvent/deadlinePassed`` comes after so long, instead of after what was armed before; nil: not at all.
  final func arm(_ duration: Duration?) { deadline = duration.map { .now + $0 } }

  /// How long it is until the armed time is up; zero if none is armed.
  final var timeLeft: Duration { deadline.map { max(.zero, $0 - .now) } ?? .zero }

  /// Ends the host's work; at once, without the main actor, if that does not answer.
  final func finish(_ status: Int32, mainActorAnswers: Bool) {
    isFinished = true
    end()
    endLogind()
    watch.close()
    // The main actor does not answer, so there is no caller to return to: the work that blocks it ends with the process.
    if !mainActorAnswers { _exit(status) }
    signals.close(orderTaken: machine.orderTaken)
    parts.didFinish(status)
  }
}
