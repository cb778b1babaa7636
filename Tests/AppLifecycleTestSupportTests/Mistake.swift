import AppLifecycle
import AppLifecycleTestSupport
import AppLifecycleTesting
import PubSub

/// What a program under test may do wrong, and what is said about it.
enum Mistake: String, CaseIterable, Sendable {
  case leaksOnTheSide, closesTwice, opensTwice, leavesBackgroundTask, endsBackgroundTaskTwice, ignoresCancellation
  case escapes, isSlow, capturesItself, throwsInHandler

  var complaint: RunComplaint {
    switch self {
    case .leaksOnTheSide: RunComplaint(.resource, "“file” was still open after the application had ended in order")
    case .closesTwice: RunComplaint(.resource, "“file” was closed while it was not open")
    case .opensTwice: RunComplaint(.resource, "“file” was opened while it was already open")
    case .leavesBackgroundTask:
      RunComplaint(.backgroundTask, "“upload” was not ended within its time")
    case .endsBackgroundTaskTwice: RunComplaint(.backgroundTask, "“upload” was ended twice")
    case .ignoresCancellation:
      RunComplaint(.task, "“stubborn” did not end with its process; it must respond to its cancellation")
    case .escapes:
      RunComplaint(
        .escapedWork,
        """
        AppLifecycleTestSupportTests/Mistake.swift:\(Self.sleep): a task outside the simulation sleeps here on the simulated \
        clock. The test's own code started it, or code that the test called. Write application.task { … } instead of \
        Task { … }.
        """)
    case .isSlow: RunComplaint(.overrun, "“database” exceeded its budget")
    case .capturesItself:
      RunComplaint(
        .owner,
        """
        “SelfKept” is captured by its own handler, and never released: AppLifecycleTestSupportTests/Mistake.swift:\
        \(SelfKept.subscription); use the owner that is passed to the handler
        """)
    case .throwsInHandler:
      RunComplaint(
        .handler, "“save the draft” threw an error while it handled UIApplicationDidEnterBackgroundNotification",
        at: "DiskFull()")
    }
  }

  private static let sleep = #line + 24

  /// Makes the mistake in an application that has been launched.
  @MainActor func make(in system: SimulatedSystem, _ balance: ResourceBalance) throws {
    let application = system.application
    switch self {
    case .leaksOnTheSide: balance.opened("file")
    case .closesTwice:
      balance.opened("file")
      balance.closed("file")
      balance.closed("file")
    case .opensTwice:
      balance.opened("file")
      balance.opened("file")
      balance.closed("file")
      balance.closed("file")
    case .leavesBackgroundTask: _ = application.beginBackgroundTask(named: "upload")
    case .endsBackgroundTaskTwice:
      let task = application.beginBackgroundTask(named: "upload")
      task.end()
      task.end()
    case .ignoresCancellation:
      application.task(label: "stubborn") { await Self.waitForEver() }
    case .escapes:
      Task { try await system.clock.sleep(for: .seconds(1)) }
    case .isSlow:
      try application.manage("database", while: .running) {
      } release: { _ in
        await Self.waitForEver()
      }
    case .capturesItself: SelfKept(bus: system.bus).begin()
    case .throwsInHandler:
      system.bus.receive(Application.DidEnterBackground.self, for: application, label: "save the draft") { _, _ in
        await Task.yield()
        throw DiskFull()
      }
    }
  }

  /// Ignores its cancellation, and never ends.
  @MainActor private static func waitForEver() async {
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
  }
}

private struct DiskFull: Error {}

/// A component whose handler captures it, and does not use what it is passed.
@MainActor final class SelfKept {
  nonisolated static let subscription = #line + 5
  private let bus: EventBus
  private(set) var returns = 0

  init(bus: EventBus) { self.bus = bus }
  func begin() { bus.subscribe(to: Application.DidBecomeActive.self, for: self) { _, _ in self.returns += 1 } }
}
