import AppLifecycle
import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

// The listings of Sources/AppLifecycle/AppLifecycle.docc/WritingAHost.md, word for word, on a double of its device.

final class DeviceHost: Sendable {
  enum Event: String { case sleep, wake, ring, hangUp, lowMemory, powerOff }

  let application: Application
  init(_ application: Application) { self.application = application }

  /// Translates an event; the device calls it on a thread of its own.
  func take(_ event: Event) {
    let cause = LifecycleCause(rawValue: event.rawValue)
    switch event {
    case .sleep:
      // Home, then the background tasks, then suspend.
      application.suspend(cause: cause)
    case .wake:
      // This device shows its program when it wakes.
      // Revokes a suspension that has not happened yet.
      application.send(.open, cause: cause)
    case .ring: application.send(.beginInterruption(.call), cause: cause)
    case .hangUp: application.send(.endInterruption(.call), cause: cause)
    case .lowMemory: application.send(.memoryWarning, cause: cause)
    case .powerOff:
      // Ignored unless the application is suspended.
      application.send(.wake, cause: cause)
      application.send(.shutDown, cause: cause)
    }
  }

  /// Launches the application, and returns its exit status when it has ended.
  @MainActor func run(_ device: Device) async -> Int32 {
    let (end, continuation) = AsyncStream.makeStream(of: Int32.self)
    let token = application.observe(label: "DeviceHost") { [application] event in
      switch event {
      case .overran(let overrun): device.log("\(overrun)")
      case .transitionEnded(let report) where report.endsProcess:
        continuation.yield(application.exitStatus)
      default: break
      }
    }
    defer { token.cancel() }
    await application.handle(.launch, cause: "power on")
    device.begin(take)  // not earlier: `open` would launch the application
    for await status in end { return status }
    return application.exitStatus
  }
}

/// The double of a device: a test reports its events.
final class Device: Sendable {
  private let listener = Guarded<(@Sendable (DeviceHost.Event) -> Void)?>(nil)
  private let lines = Guarded<[String]>([])
  var messages: [String] { lines.withLock { $0 } }

  func begin(_ listener: @escaping @Sendable (DeviceHost.Event) -> Void) { self.listener.withLock { $0 = listener } }
  func log(_ line: String) { lines.withLock { $0.append(line) } }
  func report(_ event: DeviceHost.Event) { listener.withLock { $0 }?(event) }
}

@MainActor private final class DeviceDelegate: ApplicationDelegate {}

@MainActor func runOnDevice(_ device: Device) async -> Int32 {
  let application = Application(delegate: DeviceDelegate())
  Application.adopt(application)
  return await DeviceHost(application).run(device)
}

@Suite(.timeLimit(.hang)) @MainActor struct `The host of the article` {
  /// The host in virtual time.
  @MainActor private final class Subject: HostContract.Subject {
    let application: Application
    let device = Device()
    private(set) var run: Task<Int32, Never>?
    private let clock: ManualClock

    init(_ clock: ManualClock) {
      application = Application(delegate: DeviceDelegate(), clock: clock)
      self.clock = clock
    }

    func perform(_ event: HostContract.Event) async -> Bool {
      switch event {
      case .launch:
        run = Task(executorPreference: clock.executor) { [application, device] in
          await DeviceHost(application).run(device)
        }
      case .loseFocus: device.report(.ring)
      case .regainFocus: device.report(.hangUp)
      case .sleep: device.report(.sleep)
      case .comeBack: device.report(.wake)
      case .shortMemory: device.report(.lowMemory)
      case .shutDown: device.report(.powerOff)
      // The device leaves and suspends in one event, and asks no delegate.
      case .leave, .suspend, .terminate: return false
      }
      await clock.settle()
      return true
    }
  }

  @Test func `keeps the contract`() async throws {
    try await withSimulation { @MainActor clock in
      var subjects: [Subject] = []
      let report = try await HostContract.check {
        subjects.append(Subject(clock))
        return subjects[subjects.count - 1]
      }
      #expect(report.violations == [])
      #expect(report.missing == [.leave, .suspend, .terminate])
      for subject in subjects { #expect(await subject.run?.value == 0) }
    }
  }

  @Test func `lets background tasks end, reports those that are late, and returns the status`() async throws {
    try await withSimulation { @MainActor clock in
      let subject = Subject(clock)
      _ = await subject.perform(.launch)
      let task = subject.application.beginBackgroundTask(named: "upload")
      _ = await subject.perform(.sleep)
      #expect(subject.application.state == .background)
      _ = await subject.perform(.comeBack)
      #expect(subject.application.state == .active)
      _ = await subject.perform(.sleep)
      try await clock.advance(by: .seconds(5))
      #expect(subject.application.state == .suspended)
      #expect(subject.device.messages == ["applicationDidEnterBackground overran its 5 s: upload"])
      task.end()
      _ = await subject.perform(.comeBack)
      subject.application.shutDown(status: 3)
      #expect(await subject.run?.value == 3)
    }
  }
}
