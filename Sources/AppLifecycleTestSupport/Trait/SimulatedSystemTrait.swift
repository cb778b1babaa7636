public import AppLifecycle
public import AppLifecycleTesting
public import Testing

/// Gives each test a simulated system of its own, and fails the test by itself when the run was not clean.
///
///     @Test(.simulatedSystem) @MainActor func `the label is fresh after a day`() async throws {
///       let system = try SimulatedSystem.current
///       let model = DueDateModel(bus: system.bus) { … }
///       try await system.play("launch; home; wait:1d; open")
///       #expect(model.label == "day 143 of 280")
///     }
///
/// Each case of a parameterized test has a system of its own. On a suite the trait applies to all tests in it; a trait on the
/// test itself takes precedence.
///
/// After the test the trait ends the application (``RunWatch/end()``), and records an issue for each ``RunComplaint`` whose
/// kind is not allowed, at the place of the test. A test that throws has failed already: its system is left as it is.
public struct SimulatedSystemTrait: TestTrait, SuiteTrait, TestScoping {
  private let allowed: Set<RunComplaint.Kind>
  private let make: @MainActor @Sendable (ResourceBalance) throws -> SimulatedSystem

  /// A trait that makes systems in a way of your own.
  ///
  /// - Parameters:
  ///   - allowed: the kinds of faults that the tests mean.
  ///   - make: makes a system, once for each case of each test; it is passed the balance for the test's doubles.
  public init(
    allowing allowed: Set<RunComplaint.Kind> = [],
    making make: @escaping @MainActor @Sendable (ResourceBalance) throws -> SimulatedSystem
  ) {
    (self.allowed, self.make) = (allowed, make)
  }

  /// Each test of a suite has a system of its own.
  public var isRecursive: Bool { true }

  /// Makes the system, runs the test with it, its application being `Application.shared`, ends the application, and records the complaints.
  ///
  /// Called by the testing library.
  ///
  /// - Parameters:
  ///   - test: the test; issues are recorded at its place.
  ///   - testCase: the case of the test.
  ///   - function: runs the case.
  /// - Throws: what making the system throws, or what the test throws.
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
  /// Gives each test a simulated system of its own, `SimulatedSystem.current`, with a bare application.
  public static var simulatedSystem: Self { .simulatedSystem() }

  /// Gives each test a simulated system of its own, `SimulatedSystem.current`.
  ///
  /// - Parameters:
  ///   - profile: which of the two life cycles the application follows; what the configuration says if nil.
  ///   - configuration: the application's budgets and the system's times.
  ///   - order: in which order work runs that is ready at the same time.
  ///   - allowed: the kinds of faults that the tests mean, and that do not fail them.
  ///   - delegate: makes the application's delegate, once for each system; a bare application has one that does nothing.
  /// - Returns: the trait.
  public static func simulatedSystem(
    profile: LifecycleProfile? = nil, configuration: Application.Configuration = Application.Configuration(),
    order: SimulationExecutor.Order = .fifo, allowing allowed: Set<RunComplaint.Kind> = [],
    delegate: (@MainActor @Sendable () throws -> any ApplicationDelegate)? = nil
  ) -> Self {
    Self(allowing: allowed) { _ in
      SimulatedSystem(delegate: try delegate?(), profile: profile, configuration: configuration, order: order)
    }
  }

  /// Gives each test a simulated system that you make, with doubles that count what they open and close.
  ///
  /// - Parameters:
  ///   - allowed: the kinds of faults that the tests mean, and that do not fail them.
  ///   - make: makes a system, once for each case of each test; it is passed the balance for the test's doubles.
  /// - Returns: the trait.
  public static func simulatedSystem(
    allowing allowed: Set<RunComplaint.Kind> = [],
    making make: @escaping @MainActor @Sendable (ResourceBalance) throws -> SimulatedSystem
  ) -> Self {
    Self(allowing: allowed, making: make)
  }
}
