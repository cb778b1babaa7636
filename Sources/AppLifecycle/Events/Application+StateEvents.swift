public import PubSub

extension Application {
  /// A notification that the application's state has changed; posted at each change, from the application.
  ///
  /// The event is sticky: a late subscriber with replay receives the current state at once. The first event of a launch
  /// is the change from *not running*, before ``ApplicationDelegate/applicationWillFinishLaunching(_:)``.
  ///
  /// In a simulation the event is also posted when a process is lost, by a crash for example, so that tests can observe
  /// it. No code of a lost process really runs: a handler must not begin work when the new state is *not running*.
  public struct StateDidChange: MainActorEvent, WeaklyKept, StickyEvent {
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition
    private let reference: Reference

    private enum Reference: Sendable {
      case strong(Application)
      case weak(ApplicationReference)
    }

    init(application: Application, transition: LifecycleTransition) {
      self.transition = transition
      reference = .strong(application)
    }

    private init(_ reference: Reference, _ transition: LifecycleTransition) {
      self.reference = reference
      self.transition = transition
    }

    /// The application whose life cycle it is.
    public var application: Application {
      guard case .strong(let application) = reference else {
        preconditionFailure("the bus must restore the application before it delivers the event")
      }
      return application
    }

    package func weakened() -> StateDidChange { StateDidChange(.weak(application.reference), transition) }

    package func strengthened() -> StateDidChange? {
      guard case .weak(let kept) = reference, let application = kept.application else { return nil }
      return StateDidChange(.strong(application), transition)
    }
  }
}

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
    /// The time during which the process did not run, as an upper bound: it may be up to a second too long.
    public let duration: Duration
    /// The reason why the process did not run.
    public let agent: Agent

    /// Makes the event, for a host or for a test of a handler.
    ///
    /// - Parameters:
    ///   - application: the application of the process.
    ///   - duration: the time during which the process did not run, as an upper bound.
    ///   - agent: the reason why the process did not run.
    public init(application: Application, duration: Duration, agent: Agent) {
      (self.application, self.duration, self.agent) = (application, duration, agent)
    }
  }
}
