import AppLifecycle
import LifecycleJournal
import PubSub
import SavedState

/// Makes the program's components.
///
/// The components know neither each other nor the delegate: they communicate by events of the bus.
@MainActor final class TrackerDelegate {
  /// The settings in which the program in a terminal, a played script, and a test differ.
  struct Surroundings {
    var clock: any Clock<Duration> = SuspendingClock()
    var today = Today.system
    var timeOfDay: @MainActor () -> String = { "" }
    var tips: @MainActor () throws -> any TipsService = { try LocalTips() }
    /// The directory in which the due date is kept; nil for the user's directory for state.
    var stateDirectory: String?
    /// The journal; nil to record nothing.
    var journal: Journal?
    /// The due date that was given at the start; it takes precedence over the one in the file.
    var dueDate: CivilDate?
    var isStale = false
    /// Whether the session timer is shown.
    var ticks = true
  }

  var surroundings: Surroundings
  private(set) var viewModel: PregnancyViewModel?
  private(set) var dueDate: DueDate?
  private var connections: ConnectionManager?
  private var view: TerminalView?
  /// The components.
  ///
  /// The delegate only keeps them alive: subscriptions end with their owners.
  private var components: [AnyObject] = []

  init(_ surroundings: Surroundings = Surroundings()) { self.surroundings = surroundings }
}

extension TrackerDelegate: SavedStateDelegate {
  var savedStateConfiguration: SavedState.Configuration {
    SavedState.Configuration(program: "PregTracker", directory: surroundings.stateDirectory)
  }

  func applicationDidFinishLaunching(_ application: Application) {
    do {
      try makeComponents(of: application)
    } catch {
      preconditionFailure("\(error)")  // two resources or values of one name: a mistake in this file
    }
  }

  private func makeComponents(of application: Application) throws {
    let bus = application.bus
    let dueDate = try DueDate(application: application)
    let view = TerminalView(bus: bus) { [weak self, weak application] command in
      switch command {
      case .setDueDate(let date): dueDate.set(date)
      case .nextTip: self?.connections?.requestTip()
      case .quit: application?.send(.terminate, cause: "q")
      case .redraw, .answer: break  // the view's own
      }
    }
    let log = EventLog(application: application, time: surroundings.timeOfDay)
    let viewModel = PregnancyViewModel(
      dueDate: dueDate, today: surroundings.today, application: application, isStale: surroundings.isStale)
    let timer = SessionTimer(application: application, clock: surroundings.clock, ticks: surroundings.ticks)
    self.view = view
    components = [log, timer]
    if let journal = surroundings.journal {
      components.append(JournalReporter(journal: journal, application: application))
    }
    if let date = surroundings.dueDate ?? dueDate.date { dueDate.set(date) }
    connections = try ConnectionManager(application: application, service: surroundings.tips)
    (self.dueDate, self.viewModel) = (dueDate, viewModel)
  }

  /// Asks the user if a date is still being typed, as it would be lost.
  ///
  /// A date that was set is saved during the tear-down.
  func applicationShouldTerminate(_ application: Application, cause: LifecycleCause) async -> TerminateReply {
    guard let view else { return .now }
    return await view.mayQuit() ? .now : .cancel
  }
}
