internal import PubSub

/// A way in which work leaves a simulation.
enum Escape {
  /// A task outside the simulation sleeps on its clock; `at` is the place of the sleep, if it is known.
  case sleep(at: EventBus.Subscriber?, in: EventBus.Subscriber?)
  /// A thread or a task outside the simulation woke a task inside it.
  case wakeUp(by: EventBus.Subscriber?)

  /// The violation to report, with advice on what to write instead.
  var violation: ContractViolation {
    switch self {
    case .sleep(let line?, let origin):
      let by = origin.map { ", started by \($0.place)," } ?? ""
      return ContractViolation(
        place: line.place,
        message: "a task outside the simulation\(by) sleeps here on the simulated clock. \(Self.advice)")
    case .sleep(nil, let origin?):
      return ContractViolation(
        place: origin.place,
        message: "a task outside the simulation, started here, sleeps on the simulated clock. \(Self.advice)")
    case .sleep(nil, nil):
      return ContractViolation(
        place: "unknown place",
        message: """
          a task outside the simulation sleeps on the simulated clock. \(Self.advice) \
          A sleep on application.clock, as an ApplicationClock, would name its line here.
          """)
    case .wakeUp(let origin):
      return ContractViolation(
        place: origin?.place ?? "unknown place",
        message: """
          \(origin == nil ? "a thread" : "a task") outside the simulation\(origin == nil ? "" : ", started here,") wakes a task \
          inside it. \(Self.advice) Declare work of the real world with system.clock.external { … }.
          """)
    }
  }

  private static let advice = "Write application.task { … } instead of Task { … }."
}
