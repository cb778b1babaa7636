public import PubSub

extension SavedState {
  /// The state could not be restored or saved completely, or can be saved again.
  ///
  /// Posted on the application's bus when ``SavedState/problem`` changes. A late subscriber gets the latest one with `replay: .latest`.
  public struct ProblemDidChange: MainActorEvent, StickyEvent {
    /// The problem; nil once a save has succeeded.
    public let problem: SavedStateError?

    /// Makes the event, for a test of its subscribers.
    public init(problem: SavedStateError?) { self.problem = problem }
  }
}
