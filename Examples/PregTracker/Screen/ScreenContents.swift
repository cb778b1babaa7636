/// All that the screen shows, as a value.
struct ScreenContents: Hashable, Sendable {
  /// A life-cycle event: its name, the state inside its callback, the time of day.
  struct Event: Hashable, Sendable {
    var name: String
    var state: String
    var time: String
  }

  var label = ""
  var progress: Double?
  var dueDate: CivilDate?
  var tip = ""
  var tipsStatus = ""
  var inFront = Duration.zero
  var events: [Event] = []
  /// How the run before ended, where that was not in order.
  var previousRun: String?
  var journalProblem: String?
  /// What is wrong with the file of the due date.
  var problem: String?
  var mode = Interaction.Mode.browsing
}
