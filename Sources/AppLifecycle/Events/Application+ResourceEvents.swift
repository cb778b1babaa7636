public import PubSub

extension Application {
  /// An event that reports the end of a run loop or a body that the program did not ask for.
  ///
  /// The application posts it, as its subject, when a loop or body throws, also while its phase closes, and when one returns
  /// and something follows: its resource breaks, it begins again, or the application ends. A return after which nothing follows
  /// (``RunEnd/rest``) is what the program expects, and posts nothing. A host reports each event on standard error.
  public struct RunDidEnd: MainActorEvent {
    /// What follows the end.
    public enum Sequel: Sendable, Hashable {
      /// Nothing, until the resource is acquired again, or the phase opens again.
      case rest
      /// The loop or body begins again after this time; the number of failures in a row includes this one.
      case again(after: Duration, failures: Int)
      /// The resource of the loop breaks, and its ``RetryPolicy`` decides whether it is acquired again.
      case invalidate
      /// The application ends in order, with this exit status.
      case shutDown(status: Int32)
      /// The call `await application.run(while:)` throws the error.
      case throwToCaller
      /// Nothing: the phase closes, and the release of the loop or body goes on.
      case close
      /// Nothing: the owner of the body was released, or the body was cancelled for good.
      case over
    }

    /// The application that ran it.
    public let application: Application
    /// The name of the resource whose loop it is, or of the body.
    public let name: String
    /// Whether it is a body; a run loop of a resource if not.
    package let isBody: Bool
    /// The error as text; nil if it returned.
    public let error: String?
    /// What follows.
    public let sequel: Sequel
    /// When it began, by the application's clock.
    package let began: Duration
  }

  /// An event that reports a change in the status of a managed resource.
  ///
  /// The application is its subject. While a dependency cannot be acquired, a resource has the status
  /// ``ResourceStatus/waiting(for:)``.
  public struct ResourceDidChange: MainActorEvent {
    /// The application that manages the resource.
    public let application: Application
    /// Its condition now.
    public let resource: ResourceHealth
  }
}
