public import PubSub

extension Application {
  /// A notification that the application's state has changed; posted at each change.
  ///
  /// The event is sticky: a late subscriber with replay receives the current state at once. The first event of a launch
  /// is the change from *not running*, before ``ApplicationDelegate/applicationWillFinishLaunching(_:)``.
  ///
  /// In a simulation the event is also posted when a process is lost, by a crash for example, so that tests can observe
  /// it. No code of a lost process really runs: a handler must not begin work when the new state is *not running*.
  public struct StateDidChange: ApplicationEvent, WeaklyKept, StickyEvent {
    /// The states before and after the step, and its cause.
    public let transition: LifecycleTransition
    private let reference: Reference

    private enum Reference: Sendable {
      case strong(Application)
      case weak(WeakApplication)
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

    package func weakened() -> StateDidChange { StateDidChange(.weak(WeakApplication(application)), transition) }

    package func strengthened() -> StateDidChange? {
      guard case .weak(let kept) = reference, let application = kept.application else { return nil }
      return StateDidChange(.strong(application), transition)
    }
  }

  private final class WeakApplication: Sendable {
    weak let application: Application?
    init(_ application: Application) { self.application = application }
  }
}
