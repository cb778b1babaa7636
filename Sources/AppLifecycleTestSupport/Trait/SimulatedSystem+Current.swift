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
    task that it starts. In a detached task and in an asynchronous handler the test is not known.
    """
  }
}

extension SimulatedSystem {
  /// The simulated system that ``SimulatedSystemTrait`` has made for the present test.
  ///
  /// Code in any isolation may read it, in the test's task and in tasks that it starts. A detached task cannot read it,
  /// and neither can an asynchronous handler, because a handler does not inherit the poster's task-local values.
  ///
  /// - Throws: ``NoSimulatedSystem`` if the test does not have the trait.
  public nonisolated static var current: SimulatedSystem {
    get throws(NoSimulatedSystem) {
      guard let watch = PresentRun.watch else { throw NoSimulatedSystem() }
      return watch.system
    }
  }
}

extension ResourceBalance {
  /// The balance of the present test, for its expectations, and for doubles that it adds to ``SimulatedSystem/current``.
  ///
  /// Doubles of a system that the trait does not know, because the test made it, need a balance of their own. A double
  /// that the delegate needs gets the balance from the trait's closure.
  ///
  /// Code in any isolation may read it, in the test's task and in tasks that it starts. A detached task cannot read it,
  /// and neither can an asynchronous handler, because a handler does not inherit the poster's task-local values.
  ///
  /// - Throws: ``NoSimulatedSystem`` if the test does not have the trait ``SimulatedSystemTrait``.
  public static var current: ResourceBalance {
    get throws(NoSimulatedSystem) {
      guard let watch = PresentRun.watch else { throw NoSimulatedSystem() }
      return watch.balance
    }
  }
}
