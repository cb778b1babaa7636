internal import PubSub

/// What a simulation cannot hold, because it happens outside of it or takes real time.
///
/// A task that starts inside the simulation stays inside, also in a library. So a task outside is one that the test's own
/// code has started, or the code of a declared external call.
enum Escape {
  /// A task outside the simulation sleeps on its clock; `at` is the place of the sleep, if it is known.
  case sleep(at: EventBus.Subscriber?, in: EventBus.Subscriber?)
  /// A task outside the simulation wakes a task inside it.
  case wakeUpByTask(EventBus.Subscriber?)
  /// A thread that runs no task wakes a task inside the simulation.
  case wakeUpByThread
  /// A task inside the simulation sleeps on a real clock.
  case realSleep(in: EventBus.Subscriber?)

  /// The violation to report, with advice on what to write instead.
  var violation: ContractViolation {
    switch self {
    case .sleep(let line, let origin):
      let by = origin.map { line == nil ? ", started here," : ", started by \($0.place)," } ?? ""
      let here = line == nil ? "" : " here"
      let hint = line == nil && origin == nil ? " \(Self.clockHint)" : ""
      return violation(
        at: line ?? origin,
        "a task outside the simulation\(by) sleeps\(here) on the simulated clock. \(Self.testsTask)\(hint)")
    case .wakeUpByTask(let origin):
      let by = origin == nil ? "" : ", started here,"
      return violation(at: origin, "a task outside the simulation\(by) wakes a task inside it. \(Self.testsTask)")
    case .wakeUpByThread:
      return violation(
        at: nil,
        """
        a thread outside the simulation wakes a task inside it: a thread or a queue of a library, of the system or of the \
        test. Wait for it in application.external { … }.
        """)
    case .realSleep(let origin):
      return violation(
        at: origin,
        """
        a task inside the simulation\(origin == nil ? "" : ", started here,") sleeps on a real clock, in its own code or in \
        a library. Sleep on application.clock, and pass that clock to a library. \
        Declare work that needs real time with application.external { … }.
        """)
    }
  }

  private static let testsTask = """
    The test's own code started it, or code that the test called. Write application.task { … } instead of Task { … }.
    """
  private static let clockHint = "A sleep on application.clock, as an ApplicationClock, would name its line here."

  private func violation(at place: EventBus.Subscriber?, _ message: String) -> ContractViolation {
    ContractViolation(place: place?.place ?? "unknown place", message: message)
  }
}
