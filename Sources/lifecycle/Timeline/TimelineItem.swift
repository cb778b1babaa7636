/// A moment of a run.
///
/// Much happens at one time: what came after what, the lines say.
struct TimelinePlace: Equatable {
  /// The time of the records.
  var instant: Duration
  /// The number of the line in its run, from 0; nil for the last one that is there and not after the time.
  var line: Int?
}

/// What is drawn below each other.
enum TimelineLane: Hashable {
  case state
  case scene(String)
  /// The calls of delegates, and the handlers of the notification after each.
  case calls
  /// Handlers whose own time is known, and bodies of `run(while:)`.
  case handlers
  case resource(String)
  case tasks
  /// What happened at one moment.
  case system
}

/// A bar or a mark on a lane.
struct TimelineItem: Equatable {
  var lane: TimelineLane
  var name: String
  /// What it is painted as: a state's name, `call`, `handlers`, `handler`, `task`, `acquire`, `held` or `release`; on the lane of
  /// the system `input`, `ignored`, `report`, `task` or `gap`.
  var style: String
  var begin: TimelinePlace
  /// Where it ends; at a mark where it begins, too.
  var end: TimelinePlace
  var details: String
  /// Whether it is one of those to blame, or has failed.
  var isAlarming = false
}

/// A line of the journal, as far as a picture needs it.
struct TimelineLine: Equatable {
  var instant: Duration
  /// Whether it is one that is to be told apart from others of the same time.
  var isShown: Bool
}

extension String {
  /// The text, cut where it is longer than a picture can show: a line of a journal may hold a megabyte.
  var cutForPicture: String {
    guard utf8.count > Self.longest, unicodeScalars.count > Self.longest else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.prefix(Self.longest))) + "…"
  }

  private static let longest = 500
}
