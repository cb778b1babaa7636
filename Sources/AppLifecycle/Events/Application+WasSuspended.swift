public import PubSub

extension Application {
  /// A notification that the process did not run for a while, for a reason outside of it.
  ///
  /// The host posts it on the main actor, from the application, once the process runs again. The state does not change,
  /// because the host could not call the application in time. Code that keeps connections should check
  /// them. The budgets, deadlines and health checks of the application do not count the time of a stop. The application's
  /// default clock counts a stop by SIGSTOP, so code that measures time subtracts the duration;
  /// the clock does not count a sleep of the machine (``Agent/systemSleep``). The event does not report a stop
  /// for which the application was *suspended*.
  public struct WasSuspended: MainActorEvent {
    /// The reason why the process did not run.
    public enum Agent: String, Sendable, Hashable {
      /// A signal such as SIGSTOP stopped the process, and SIGCONT continued it.
      ///
      /// The application's default clock went on.
      case stopSignal
      /// The machine slept.
      ///
      /// The application's default clock stood still.
      case systemSleep
      /// The process was frozen, for example by a container's manager, it was held by a debugger, or its virtual
      /// machine was paused. The process cannot tell these apart. The application's default clock went on, unless the
      /// virtual machine was paused.
      case frozenOrPaused
    }

    /// The application of the process.
    public let application: Application
    /// The time during which the process did not run, as an upper bound.
    public let duration: Duration
    /// The uncertainty of ``duration``: the true time may be shorter by this much.
    public let uncertainty: Duration
    /// The reason why the process did not run.
    public let agent: Agent

    /// Makes the event, for a host or for a test of a handler.
    ///
    /// - Parameters:
    ///   - application: the application of the process.
    ///   - duration: the time during which the process did not run, as an upper bound.
    ///   - uncertainty: the uncertainty of the duration; zero if it is exact.
    ///   - agent: the reason why the process did not run.
    public init(application: Application, duration: Duration, uncertainty: Duration = .zero, agent: Agent) {
      (self.application, self.duration, self.uncertainty, self.agent) = (application, duration, uncertainty, agent)
    }
  }
}
