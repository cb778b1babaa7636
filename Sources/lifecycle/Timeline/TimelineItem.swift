import AppLifecycle

/// A moment of a run.
///
/// Many lines may have the same time; the line's number gives their order.
struct TimelinePlace: Equatable {
  /// The time of the records.
  var instant: Duration
  /// The number of the line in its run, from 0; nil for the last line that is not after the time.
  var line: Int?
}

/// A row of the picture.
enum TimelineLane: Hashable {
  case state
  case scene(String)
  /// The calls of delegates, and the handlers of the notification after each.
  case calls
  /// Handlers whose own time is known, and bodies of `run(while:)`.
  case handlers
  case resource(String)
  case tasks
  /// Inputs, reports and gaps, each at one moment.
  case system
}

extension TimelineLane {
  /// The place of the lane among the others, its layout for the page's script, and its name.
  var appearance: (rank: Int, kind: String, title: String) {
    switch self {
    case .state: (0, "states", "state")
    case .scene(let name): (1, "scenes", "scene \(name)")
    case .calls: (2, "calls", "delegate and notifications")
    case .handlers: (3, "flags", "handlers")
    case .resource(let name): (4, "resources", name)
    case .tasks: (5, "flags", "background tasks")
    case .system: (6, "marks", "system")
    }
  }
}

/// A bar or a mark on a lane.
struct TimelineItem: Equatable {
  var lane: TimelineLane
  var name: String
  /// The style in which the item is painted: a state's name, `call`, `handlers`, `handler`, `task`, `acquire`, `held` or
  /// `release`; on the lane of the system `input`, `ignored`, `report`, `task` or `gap`.
  var style: String
  var begin: TimelinePlace
  /// The end of the bar; for a mark, its only place.
  var end: TimelinePlace
  var details: String
  /// Whether the code overran its time or failed.
  var isAlarming = false
}

/// The parts of a journal's line that a picture needs.
struct TimelineLine: Equatable {
  var instant: Duration
  /// Whether the line has a slot of its own among lines of the same time.
  var isShown: Bool
}

extension String {
  /// The text, cut to the length that a picture can show: a line of a journal may hold a megabyte.
  var cutForPicture: String { cut(toScalars: 500) }
}
