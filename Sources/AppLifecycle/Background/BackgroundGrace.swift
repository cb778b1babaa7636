/// The time for which a host lets an application run on in the background for work that the application has not announced.
///
/// A component that starts work when the application leaves the foreground, and begins no background task for it, has
/// about five seconds on iOS. A host stops or ends the process when the tear-down and the background tasks have ended.
/// The grace delays that: at Ctrl-Z and before the sleep of the machine it comes before the suspension, and at an end
/// between `didEnterBackground` and `willTerminate`.
public struct BackgroundGrace: Sendable, Hashable {
  /// The time, counted from the entry into the background.
  public var duration: Duration
  /// Whether the grace ends as soon as nothing is under way that the application knows of.
  ///
  /// The application knows of its background tasks, and of the tasks that its `task` methods started, except those that
  /// repeat an action. It waits for the asynchronous handlers of closing notifications, and for bodies and releases, in
  /// the tear-down before the grace. It does not know of a plain `Task {}` and of threads.
  public var endsEarly: Bool

  /// No grace: the host waits for the tear-down and for background tasks only.
  public static let zero = Self(duration: .zero, endsEarly: false)

  /// A grace of a duration.
  ///
  /// - Parameters:
  ///   - duration: the time, counted from the entry into the background.
  ///   - endsEarly: whether the grace ends as soon as nothing is under way that the application knows of.
  /// - Returns: the grace.
  public static func `for`(_ duration: Duration, endsEarly: Bool = false) -> Self {
    Self(duration: duration, endsEarly: endsEarly)
  }
}

/// The grace of a stay in the background, as a pure state machine.
///
/// It begins when the application enters the background from the foreground. It does not begin at a launch into the
/// background or at a wake-up, which start no work of the kind, unless observers are told of the background there, too.
struct GracePeriod: Sendable, Hashable {
  /// A grace that may be left.
  struct End: Sendable, Hashable {
    let instant: Duration
    let endsEarly: Bool
  }

  /// The grace that the program has chosen; nil if the default applies.
  private let chosen: BackgroundGrace?
  private var state = ApplicationState.notRunning
  /// The entry into the background; nil outside of the stay.
  private var began: Duration?
  /// Whether observers without any knowledge of this package were told of the entry.
  private var observersWereTold = false
  /// Whether the application has been in the foreground since its launch, or observers have received `didEnterBackground`.
  private(set) var wasSeen = false

  init(_ chosen: BackgroundGrace?) { self.chosen = chosen }

  mutating func didCommit(_ next: ApplicationState, at now: Duration) {
    began = next == .background && state.isForeground ? now : nil
    observersWereTold = false
    wasSeen = next.isForeground || wasSeen && next != .notRunning
    state = next
  }

  /// Notes that observers of a notification center have been told that the application is in the background.
  ///
  /// If it has not entered the background from the foreground, the grace begins now.
  mutating func didTellObservers(at now: Duration) {
    (observersWereTold, wasSeen) = (true, true)
    began = began ?? now
  }

  /// Returns the end of the grace; nil if there is none, or none is left.
  func end(at now: Duration) -> End? {
    let grace = chosen ?? (observersWereTold ? .for(.seconds(1)) : .zero)
    guard let began, grace.duration > now - began else { return nil }
    // A duration may be too large to be added to an instant.
    return End(instant: now + min(grace.duration - (now - began), .seconds(365 * 86_400)), endsEarly: grace.endsEarly)
  }
}
