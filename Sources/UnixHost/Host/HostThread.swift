import AppLifecycle
import CUnixHost
import Dispatch
import LibC
import PubSub
import Scheduling

/// The thread of a host: a `poll` over signals, events from the main actor, and the descriptors of the kind of host.
///
/// It performs the effects of its state machine, and decides nothing itself. Only that thread creates and uses it.
class HostThread<Machine: HostMachine> {
  typealias Event = Machine.Event
  typealias Instant = SuspendingClock.Instant

  /// The parts that are passed to the thread.
  struct Parts: Sendable {
    var application: Application
    var signals: SignalPipe
    var watch: SystemWatch
    var standstill: Standstill
    var mailbox = MainActorMailbox()
    var link: HostLink<Event>
    /// Called with the exit status at the end of the work.
    var didFinish: @Sendable (Int32) -> Void
    /// Signaled when `run()` has continued with that status.
    var hasReturned: DispatchSemaphore
  }

  let parts: Parts
  var signals: SignalPipe
  var watch: SystemWatch
  var logind: LogindWatch?
  private var signalWatch = SignalWatch()
  private(set) var machine: Machine
  /// The deadline that the state machine has armed, on a clock that stands still while the process does.
  private var deadline = HostDeadline()
  private(set) var isFinished = false

  init(_ parts: Parts, machine: Machine) {
    self.parts = parts
    signals = parts.signals
    watch = parts.watch
    logind = .live(waker: parts.link.waker)
    self.machine = machine
  }

  // MARK: For the kinds of host

  /// Processes the first event.
  func begin() {}

  /// The descriptors to poll in addition to signals and the main actor; -1 for one that is not needed now.
  var descriptors: [pollfd] { [] }

  /// The latest time at which the thread must wake up.
  var deadlines: [Instant?] { [] }

  /// Handles the ready entries of ``descriptors``.
  func take(_ ready: ArraySlice<pollfd>) {}

  /// Performs the work that is due.
  func passTime(_ now: Instant) {}

  /// Performs an effect, and returns its answers, which the machine handles next.
  func perform(_ effect: Machine.Effect) -> [Event] { [] }

  /// Returns the work to do on the main actor after the application has handled an input.
  func afterwards(_ delivery: HostDelivery) -> @MainActor @Sendable () -> Void { {} }

  /// Performs the last work before the process may end.
  func end() {}

  /// Performs the last work before the process ends without the main actor.
  func willEndByForce() {}

  // MARK: The loop

  final func run() {
    unixhost_emergency_install()
    watch.begin()
    parts.standstill.begin(account: watch.account)
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
    parts.standstill.willWait(timeout)
    let count = poll(&descriptors, nfds_t(descriptors.count), timeout)
    parts.standstill.works()
    let lost = takeSignalsBack()
    // Handle all signals first, because every decision must know all signals that have arrived.
    let records = takeSignals() + lost
    let wasContinued = records.contains { $0.signal == .continue }
    let suspensions = watch.takeSuspensions(wasContinued: wasContinued)
    if !suspensions.isEmpty { TimerThread.shared.machineHasSlept() }
    // Do not report a sleep afterwards that was announced to the application before.
    if logind?.machine.hasToldOfSleep != true { for fact in suspensions { tell(fact) } }
    if !records.isEmpty { process(.signals(records)) }
    for event in parts.link.take() { process(event) }
    // Once the host has finished, its descriptors are closed, and the program may have opened others with their numbers.
    guard !isFinished else { return }
    if count > 0 { take(descriptors[(2 + watched.count + logindDescriptors.count)...]) }
    guard !isFinished else { return }
    for fact in watch.take(descriptors[2..<(2 + watched.count)]) { tell(fact) }
    let isSaving = parts.application.isSavingAtOnce
    if deadline.check(at: running, grace: machine.budgets.grace, isSaving: isSaving) { process(.deadlinePassed) }
    guard !isFinished else { return }
    let now = Instant.now
    passTime(now)
    takeLogind(now)
  }

  /// The time, in milliseconds, within which the handler of the SIGCONT that ended a stop may run on another thread.
  private static var settlingTime: Int32 { 200 }

  private func takeSignals() -> [SignalRecord] {
    var records = signals.drain()
    guard watch.suspectsStop, !records.contains(where: { $0.signal == .continue }) else { return records }
    var waiting = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
    if poll(&waiting, 1, Self.settlingTime) > 0 { records += signals.drain() }
    return records
  }

  /// Takes back the signals that a library has taken, and reports them.
  ///
  /// - Returns: the signals that the host does not receive otherwise: those that are stuck, and the order that the library
  ///   alone has received.
  private func takeSignalsBack() -> [SignalRecord] {
    let notes = parts.link.takeNotes()
    let start = SignalPipe.now
    if notes != CodeNotes() { signalWatch.begin(at: start) }
    let isThorough = signalWatch.isThorough(at: start)
    let findings = signals.takeBack(isThorough: isThorough)
    // Afterwards: what is found may have begun during the look.
    let now = SignalPipe.now
    signalWatch.take(findings, at: now)?.send()
    // One that comes while it is taken back gets stuck after this look, and is found by the next thorough one.
    let mayBeStuck = signalWatch.hasFindings && (isThorough || !findings.isEmpty)
    let records = mayBeStuck ? signalWatch.takeStuck(signals.stuck, at: now) : []
    guard let run = notes.returned,
      let (order, message) = signalWatch.takeReturn(of: run, at: now, within: machine.budgets.willTerminate)
    else { return records }
    message.send()
    return records + [order]
  }

  private func tell(_ fact: SystemFact) {
    parts.mailbox.send { [application = parts.application] in
      switch fact {
      case .memoryIsShort: application.send(.memoryWarning, cause: "memory pressure")
      case .timeChanged(let change): application.send(.significantTimeChange, cause: change.rawValue)
      case .wasSuspended(let suspension):
        application.bus.post(
          Application.WasSuspended(
            application: application, duration: suspension.duration, agent: suspension.agent),
          from: application)
      }
    }
  }

  /// The time of a clock that stands still while the process does.
  private var running: Instant { .now - parts.standstill.lost }

  private func timeout() -> Int32 {
    var next = ([logindDeadline] + deadlines).compactMap { $0 }.reduce(watch.deadline, min)
    if deadline.isArmed { next = min(next, .now + min(timeLeft, HostDeadline.wait)) }
    if let time = signalWatch.deadline { next = min(next, .now + (time - SignalPipe.now)) }
    let wait = next - Instant.now
    // Round up, so that the last millisecond is not spent in a busy loop.
    return wait < .zero ? 0 : Int32(clamping: wait.milliseconds + 1)
  }

  /// Passes an event to the machine, performs its effects, and passes the answers back.
  final func process(_ event: Event) {
    var events = [event][...]
    while let next = events.popFirst(), !isFinished {
      for effect in machine.handle(next) { events += perform(effect) }
    }
  }

  // MARK: What all machines want done

  /// Sends an input to the application, or holds it back until the computer no longer sleeps.
  final func send(_ delivery: HostDelivery) {
    if logind == nil { give(delivery) } else { tellLogind(.hostSends(delivery)) }
  }

  /// Sends an input to the application, and runs the work of ``afterwards(_:)`` on the main actor when the input has
  /// been handled.
  ///
  /// - Parameters:
  ///   - delivery: the input.
  ///   - answers: whether the machine is told when the input has been handled.
  final func give(_ delivery: HostDelivery, answers: Bool = true) {
    let then = afterwards(delivery)
    parts.mailbox.send { [application = parts.application, link = parts.link] in
      _ = await delivery.perform(on: application)
      then()
      if answers { link.send(.transitionFinished(id: delivery.id)) }
    }
  }

  /// Reports an overrun budget and the code that overran it, also while the main actor is blocked.
  final func report(_ overrun: BudgetOverrun) {
    var overrun = overrun
    if overrun.culprits.isEmpty, !ThreadPoolProbe.systemCreatesThreads {
      overrun.threadShortage = .noThreadCanBeCreated
    }
    HostMessage(overrun, openCalls: parts.application.openCalls).send()
  }

  /// Arms the deadline after which ``HostEvent/deadlinePassed`` comes, instead of an earlier one; nil disarms it.
  final func arm(_ duration: Duration?) { deadline.arm(duration, at: running) }

  /// The time until the armed deadline; zero if none is armed.
  final var timeLeft: Duration { deadline.timeLeft(at: running) }

  /// Ends the host's work; if the main actor does not answer, ends the process at once.
  final func finish(_ status: Int32, mainActorAnswers: Bool) {
    isFinished = true
    signalWatch.finish()?.send()
    end()
    endLogind()
    parts.standstill.end()
    watch.close()
    if !mainActorAnswers { endByForce(status) }
    signals.close(repetitionsEnd: machine.repetitionsEnd)
    parts.didFinish(status)
    // The end of the process must not depend on the main actor, whose code may block it from now on.
    let isSilent = HostDeadline.passes(after: Self.returnTime, grace: machine.budgets.grace) {
      let began = Instant.now
      let result = parts.hasReturned.wait(timeout: .now() + .nanoseconds(Int(HostDeadline.wait.nanoseconds)))
      return result == .timedOut ? .now - began : nil
    }
    guard isSilent else { return }
    let call = HostMessage.silence(in: parts.application.openCalls)
    HostMessage(.error, "the program has ended, but `run()` cannot return: \(call)").send()
    endByForce(status == ExitStatus.success ? ExitStatus.tearDownOverran : status)
  }

  /// The time within which the main actor must continue after the end of the application.
  private static var returnTime: Duration { .seconds(1) }

  /// Ends the process although the main actor does not answer, so that the caller of `run()` cannot continue.
  ///
  /// The code that blocks the main actor ends with the process.
  private func endByForce(_ status: Int32) -> Never {
    willEndByForce()
    _exit(status)
  }
}
