public import PubSub

extension Application {
  /// A time in which the process did not run.
  public struct Suspension: Sendable, Hashable {
    /// What kept the process from running.
    public enum Agent: String, Sendable, Hashable {
      /// A signal stopped it, SIGSTOP for one, and SIGCONT let it go on.
      case stopSignal
      /// The machine slept.
      case systemSleep
      /// It was frozen (by a container's manager, say), held by a debugger, or the virtual machine was paused: from inside
      /// they look alike.
      case frozenOrPaused
    }

    /// The time that passed, at most.
    public var duration: Duration
    /// The error of ``duration``: the process may have stood still for so much less.
    public var uncertainty: Duration
    /// The cause.
    public var agent: Agent

    /// A time in which the process did not run.
    public init(duration: Duration, uncertainty: Duration, by agent: Agent) {
      (self.duration, self.uncertainty, self.agent) = (duration, uncertainty, agent)
    }
  }

  /// The process did not run for a while, for a reason outside of it.
  ///
  /// The host posts it on the main actor, from the application, once the process runs again. The state is unchanged, as no call
  /// was possible in time. Code that counts seconds or keeps connections may have to check them. A stop for which the
  /// application was *suspended* is not reported by this event.
  public struct WasSuspended: MainActorEvent {
    /// The application of the process.
    public let application: Application
    /// The length and the cause.
    public let suspension: Suspension

    /// Makes the event.
    public init(application: Application, suspension: Suspension) {
      (self.application, self.suspension) = (application, suspension)
    }
  }
}
