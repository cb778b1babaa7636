import AppLifecycle
import CUnixHost
import Dispatch
import LibC
import PubSub
import Scheduling

/// One run of a host, from the call of its `run()` to its return.
@MainActor enum HostSession {
  private static var isRunning = false

  /// Observes the application, catches signals, and runs the host's thread until it has finished.
  ///
  /// - Parameters:
  ///   - application: the application to host.
  ///   - link: the queue of events to the host's thread.
  ///   - caught: the signals to catch.
  ///   - clock: the wall clock; nil for that of the machine.
  ///   - setTrouble: receives a text about the resources that cannot be acquired, whenever it changes; nil when there
  ///     are none.
  ///   - work: the body of the thread.
  /// - Returns: the exit status.
  /// - Precondition: no other host runs in this process.
  static func run<Machine: HostMachine>(
    _ application: Application, link: HostLink<Machine.Event>, catching caught: [CaughtSignal],
    clock: WallClock? = nil, setTrouble: (@MainActor (String?) -> Void)? = nil,
    work: @escaping @Sendable (HostThread<Machine>.Parts) -> Void
  ) async -> Int32 {
    precondition(!isRunning, "a host is running already; the signals of a process can belong to one host only")
    isRunning = true
    defer { isRunning = false }
    let reporter = ResourceReporter(application, setTrouble: setTrouble)
    defer { withExtendedLifetime(reporter) {} }
    let observation = follow(application, link: link) { $0.send(waits: false) }
    defer { observation.cancel() }
    // A resource may start a library that takes signals.
    let changes = application.bus.subscribe(to: Application.ResourceDidChange.self, from: application) { _ in
      link.noteBeginning()
    }
    defer { changes.cancel() }
    let ends = application.bus.subscribe(to: Application.RunDidEnd.self, from: application) { end in
      if SignalWatch.mayFollowAnOrder(error: end.error, end.sequel) {
        // In this order: a pause between the two readings must not make the run look younger.
        let now = SignalPipe.now
        let length = end.application.clock.now.offset - end.began
        link.noteReturn(of: ReturnedRun(name: end.name, began: now - length))
      }
    }
    defer { ends.cancel() }
    // The program's own code runs on the main actor's thread, so the stack of that thread may overflow. Threads of the pool
    // inherit what it blocks.
    unixhost_emergency_stack_install()
    unixhost_faults_unblock()
    // Here and not on the host's thread, because a signal that arrives before that thread runs must not be lost.
    guard link.waker.descriptor >= 0, let signals = SignalPipe(catching: caught) else {
      return refused("no file descriptor is left", shortageOfDescriptors ?? errno)
    }
    var watch = SystemWatch(clock: clock)
    if let error = shortageOfDescriptors {
      signals.close(repetitionsEnd: nil)
      watch.close()
      return refused("too few file descriptors are left", error)
    }
    let standstill = Standstill()
    application.processTime.follow { standstill.lost }
    defer { application.processTime.endFollowing() }
    HostCapability.ofRunningHost = watch.capabilities
    defer { HostCapability.ofRunningHost = [:] }
    let hasReturned = DispatchSemaphore(value: 0)
    let status = await TaskStarter().waitOnMainActor {
      await withCheckedContinuation { [watch] continuation in
        let parts = HostThread<Machine>.Parts(
          application: application, signals: signals, watch: watch, standstill: standstill, link: link,
          didFinish: { continuation.resume(returning: $0) }, hasReturned: hasReturned)
        // The timers of the tear-down's budgets must run also if no thread can be created later.
        guard TimerThread.shared.start(), NativeThread.start({ work(parts) }) else {
          signals.close(repetitionsEnd: nil)
          var watch = watch
          watch.close()
          return continuation.resume(returning: refused("no thread can be created", EAGAIN))
        }
      }
    }
    hasReturned.signal()
    // After an end in order the program chooses the status.
    return status == ExitStatus.success ? application.exitStatus : status
  }

  /// Observes the application for the host's thread, and reports code that is late outside a tear-down, and background
  /// tasks that are begun without end.
  ///
  /// The end of a transition reports the overruns of its tear-down, and of the question whether to end.
  static func follow<Event: HostEvent>(
    _ application: Application, link: HostLink<Event>, report: @escaping @MainActor (HostMessage) -> Void
  ) -> ObserverToken {
    var hasBudget = false
    return application.observeFirst(label: "host") { [reference = application.reference] event in
      if case .transitionEnded = event { link.noteBeginning() }
      switch event {
      case .transitionBegan(let input?, _)
      where input.traits.contains(.endsProcess) && reference.application?.present.state.isInMemory ?? false:
        link.send(.applicationBeganToEnd)
      case .terminationAsked: link.send(.questionOpened)
      case .terminationRefused: link.send(.questionRefused)
      case .transitionEnded(let report) where report.endsProcess:
        link.send(.applicationEnded(overruns: report.overruns))
      case .transitionEnded(let report) where hasBudget:
        hasBudget = false
        link.send(.budgetEnded(overruns: report.overruns))
      case .budgetBegan(let callback, _):
        hasBudget = true
        link.send(.budgetBegan(callback))
      case .overran(let overrun) where !hasBudget && overrun.callback != .shouldTerminate: report(HostMessage(overrun))
      case .recorded(let record):
        guard let refusal = record.report, refusal.kind == .refusedEndlessly else { break }
        report(
          HostMessage(
            .error,
            "the background task \(refusal.name) is begun again and again although it is refused; its handlers are not called"
          ))
      default: break
      }
    }
  }

  /// Descriptors for the terminal or the manager, for the timers of libdispatch, which traps without a descriptor, and
  /// for the program.
  private static let descriptorsNeeded = 8

  /// The error of opening that many descriptors; nil if they are available.
  private static var shortageOfDescriptors: Int32? {
    var opened: [Int32] = []
    defer { for descriptor in opened { close(descriptor) } }
    for _ in 0..<descriptorsNeeded {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      if descriptor < 0 { return errno == EMFILE || errno == ENFILE ? errno : nil }
      opened.append(descriptor)
    }
    return nil
  }

  /// Reports why the host cannot begin, with the limit that a user can change.
  nonisolated static func refused(_ what: String, _ error: Int32) -> Int32 {
    let hint = error == EMFILE ? " (the limit, `ulimit -n`, is \(sysconf(Int32(_SC_OPEN_MAX))))" : ""
    HostMessage(.error, "cannot start: \(what): \(String(cString: strerror(error)))\(hint)").send()
    return ExitStatus.systemRefused
  }
}
