public import PubSub

extension Application {
  /// A time in which the process did not run, told afterwards.
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

    /// How long, at most.
    public var duration: Duration
    /// By how much less it may have been.
    public var uncertainty: Duration
    /// By what.
    public var agent: Agent

    /// A time in which the process did not run.
    public init(duration: Duration, uncertainty: Duration, by agent: Agent) {
      (self.duration, self.uncertainty, self.agent) = (duration, uncertainty, agent)
    }
  }

  /// The process did not run for a while, without its doing.
  ///
  /// Posted on the main actor by the host once the process runs again, from the application. The state is unchanged: nothing
  /// could be told in time. What counts seconds or keeps connections may have to look again. A stop that the application was
  /// told about (*suspended*) is not among these.
  public struct WasSuspended: MainActorEvent {
    /// Whose process.
    public let application: Application
    /// How long, and by what.
    public let suspension: Suspension

    /// Makes the event.
    public init(application: Application, suspension: Suspension) {
      (self.application, self.suspension) = (application, suspension)
    }
  }
}
