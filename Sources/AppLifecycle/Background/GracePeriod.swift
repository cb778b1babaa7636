internal import Scheduling

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

  /// The time that the program has chosen; nil if the default applies.
  private let chosen: Duration?
  private let endsEarly: Bool
  private var state = ApplicationState.notRunning
  /// The entry into the background; nil outside of the stay.
  private var began: Duration?
  /// Whether observers without any knowledge of this package were told of the entry.
  private var observersWereTold = false
  /// Whether the application has been in the foreground since its launch, or observers have received `didEnterBackground`.
  private(set) var wasSeen = false

  init(_ configuration: Application.Configuration) {
    (chosen, endsEarly) = (configuration.backgroundGrace, configuration.backgroundGraceEndsEarly)
  }

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
    let grace = chosen ?? (observersWereTold ? .seconds(1) : .zero)
    guard let began, grace > now - began else { return nil }
    return End(instant: now + min(grace - (now - began), .century), endsEarly: endsEarly)
  }
}
