public import AppLifecycleTesting

/// The watch of the present test's run, as a task-local value.
enum PresentRun {
  @TaskLocal static var watch: RunWatch?
}

/// The error that a test without the trait asked for its simulated system or its balance.
public struct NoSimulatedSystem: Error, Sendable, Hashable, CustomStringConvertible {
  /// Advice on how to get a simulated system.
  public var description: String {
    """
    There is no simulated system here. Write @Test(.simulatedSystem), and read `current` in the test's task or in a \
    task that it starts. Delegate calls, handlers, acquires, releases and detached tasks do not know the test: read it \
    before `play`, and let them capture the value.
    """
  }
}

extension SimulatedSystem {
  /// The simulated system that ``SimulatedSystemTrait`` has made for the present test.
  ///
  /// Code in any isolation may read it: in the test, in the `init` of its suite, and in tasks that these start.
  /// Detached tasks do not know the test, and neither do the tasks of delegate calls, handlers, acquires, releases and
  /// bodies. Read it before `play`, and let their closures capture the value.
  ///
  /// - Throws: ``NoSimulatedSystem`` if the test does not have the trait, or the task does not know the test.
  public nonisolated static var current: SimulatedSystem {
    get throws(NoSimulatedSystem) {
      guard let watch = PresentRun.watch else { throw NoSimulatedSystem() }
      return watch.system
    }
  }
}

extension ResourceBalance {
  /// The balance of the present test, for its expectations, and for doubles that it adds to `SimulatedSystem.current`.
  ///
  /// Doubles of a system that the trait does not know, because the test made it, need a balance of their own. A double
  /// that the delegate needs gets the balance from the trait's closure.
  ///
  /// Code in any isolation may read it: in the test, in the `init` of its suite, and in tasks that these start.
  /// Detached tasks do not know the test, and neither do the tasks of delegate calls, handlers, acquires, releases and
  /// bodies. Read it before `play`, and let their closures capture the value.
  ///
  /// - Throws: ``NoSimulatedSystem`` if the test does not have the trait ``SimulatedSystemTrait``, or the task does
  ///   not know the test.
  public static var current: ResourceBalance {
    get throws(NoSimulatedSystem) {
      guard let watch = PresentRun.watch else { throw NoSimulatedSystem() }
      return watch.balance
    }
  }
}
