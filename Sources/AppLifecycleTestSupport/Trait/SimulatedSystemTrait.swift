public import AppLifecycle
public import AppLifecycleTesting
public import Testing

/// A trait that gives each test a simulated system of its own, and records an issue for each fault of the run.
///
///     @Test(.simulatedSystem) @MainActor
///     func `the label is fresh after a day`() async throws {
///       let system = try SimulatedSystem.current
///       let model = DueDateModel(bus: system.bus) { … }
///       try await system.play("launch; home; wait:1d; open")
///       #expect(model.label == "day 143 of 280")
///     }
///
/// Each case of a parameterized test has a system of its own. On a suite the trait applies to all tests in it; a trait on the
/// test itself takes precedence.
///
/// After the test the trait ends the application (``RunWatch/end()``), and records an issue for each ``RunComplaint``
/// whose kind is not allowed, at the place of the test. A test that throws has already failed, so its system is not
/// examined.
public struct SimulatedSystemTrait: TestTrait, SuiteTrait, TestScoping {
  private let allowed: Set<RunComplaint.Kind>
  private let make: @MainActor @Sendable (ResourceBalance) throws -> SimulatedSystem

  /// Makes a trait with a closure that makes the systems.
  ///
  /// - Parameters:
  ///   - allowed: the kinds of faults that do not fail the tests.
  ///   - make: makes a system, once for each case of each test; its argument is the balance for the test's doubles.
  public init(
    allowing allowed: Set<RunComplaint.Kind> = [],
    making make: @escaping @MainActor @Sendable (ResourceBalance) throws -> SimulatedSystem
  ) {
    (self.allowed, self.make) = (allowed, make)
  }

  /// Whether the trait applies to each test of a suite: always true, so that each test has a system of its own.
  public var isRecursive: Bool { true }

  /// Makes the system, runs the test, ends the application, and records the complaints.
  ///
  /// During the test the system's application is `Application.shared`. The testing library calls this method.
  ///
  /// - Parameters:
  ///   - test: the test; issues are recorded at its source location.
  ///   - testCase: the case of the test.
  ///   - function: runs the case.
  /// - Throws: an error of the closure that makes the system, or the error that the test throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let watch = try await begin()
    let application = await watch.system.application
    try await PresentRun.$watch.withValue(watch) {
      try await Application.withShared(application) { try await function() }
    }
    for complaint in await watch.end() where !allowed.contains(complaint.kind) {
      Issue.record(Comment(rawValue: complaint.description), sourceLocation: test.sourceLocation)
    }
  }

  @MainActor private func begin() throws -> RunWatch {
    let balance = ResourceBalance()
    return RunWatch(try make(balance), balance: balance)
  }
}

extension Trait where Self == SimulatedSystemTrait {
  /// Gives each test a simulated system of its own, `SimulatedSystem.current`, whose delegate does nothing.
  public static var simulatedSystem: Self { .simulatedSystem() }

  /// Gives each test a simulated system of its own, `SimulatedSystem.current`.
  ///
  /// - Parameters:
  ///   - profile: the life cycle that the application follows; nil for the configuration's.
  ///   - configuration: the application's budgets and the system's time limits; nil for those that the delegate's type
  ///     declares (`ApplicationDelegate.configuration`).
  ///   - order: the order in which work that is ready at the same time runs.
  ///   - allowed: the kinds of faults that do not fail the tests.
  ///   - delegate: makes the delegate of each process; nil for a delegate that does nothing.
  /// - Returns: the trait.
  public static func simulatedSystem(
    profile: LifecycleProfile? = nil, configuration: Application.Configuration? = nil,
    order: SimulationExecutor.Order = .fifo, allowing allowed: Set<RunComplaint.Kind> = [],
    delegate: (@MainActor @Sendable () -> any ApplicationDelegate)? = nil
  ) -> Self {
    Self(allowing: allowed) { _ in
      SimulatedSystem(profile: profile, configuration: configuration, order: order, delegate: delegate)
    }
  }

  /// Gives each test a simulated system that you make, with doubles that count what they open and close.
  ///
  /// - Parameters:
  ///   - allowed: the kinds of faults that do not fail the tests.
  ///   - make: makes a system, once for each case of each test; its argument is the balance for the test's doubles.
  /// - Returns: the trait.
  public static func simulatedSystem(
    allowing allowed: Set<RunComplaint.Kind> = [],
    making make: @escaping @MainActor @Sendable (ResourceBalance) throws -> SimulatedSystem
  ) -> Self {
    Self(allowing: allowed, making: make)
  }
}
