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
  var activeTime = Duration.zero
  var events: [Event] = []
  /// The end of the previous run, if it did not end in order.
  var previousRun: String?
  var journalProblem: String?
  /// The problem with the file of the due date; nil if there is none.
  var problem: String?
  var mode = Interaction.Mode.browsing
}
