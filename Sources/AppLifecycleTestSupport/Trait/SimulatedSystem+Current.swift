public import AppLifecycleTesting

/// The run of the present test.
enum PresentRun {
  @TaskLocal static var watch: RunWatch?
}

/// A test asked for a simulated system or a balance that it does not have.
public struct NoSimulatedSystem: Error, Sendable, Hashable, CustomStringConvertible {
  /// What to write.
  public var description: String {
    """
    This test has no simulated system. Write @Test(.simulatedSystem), and ask in a task of the test: \
    a detached task and an asynchronous handler do not know the test to which they belong.
    """
  }
}

extension SimulatedSystem {
  /// The simulated system of the present test, which ``SimulatedSystemTrait`` has made.
  ///
  /// May be read from any isolation, in the test's task and in those that it starts, but not in a detached task, nor in an
  /// asynchronous handler: it runs in no poster's context.
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
  /// The balance of the present test, for doubles that the test itself makes.
  ///
  /// May be read from any isolation, in the test's task and in those that it starts, but not in a detached task, nor in an
  /// asynchronous handler: it runs in no poster's context.
  ///
  /// - Throws: ``NoSimulatedSystem`` if the test does not have the trait ``SimulatedSystemTrait``.
  public static var current: ResourceBalance {
    get throws(NoSimulatedSystem) {
      guard let watch = PresentRun.watch else { throw NoSimulatedSystem() }
      return watch.balance
    }
  }
}
