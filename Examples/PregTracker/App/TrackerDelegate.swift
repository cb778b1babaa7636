import AppLifecycle
import LifecycleJournal
import PubSub

/// Puts the program together.
///
/// The components know nothing of each other, nor of this: they meet in the events of the bus.
@MainActor final class TrackerDelegate {
  /// What differs between the program in a terminal, a script that is played, and a test.
  struct Surroundings {
    var clock: any Clock<Duration> = SuspendingClock()
    var today = Today.system
    var timeOfDay: @MainActor () -> String = { "" }
    var tips: @MainActor () throws -> any TipsService = { try LocalTips() }
    /// Where the due date is kept; nil: nowhere.
    var state: StateFile?
    /// Where the run is recorded; nil: nowhere.
    var journal: Journal?
    /// Counts more than what is kept.
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
  /// They only have to live: subscriptions end with their owners.
  private var components: [AnyObject] = []

  init(_ surroundings: Surroundings = Surroundings()) { self.surroundings = surroundings }
}

extension TrackerDelegate: ApplicationDelegate {
  /// Makes the components.
  ///
  /// A simulated device may launch the application more than once: all but what the application manages is then made anew.
  func applicationDidFinishLaunching(_ application: Application) {
    let bus = application.bus
    let dueDate = DueDate(bus: bus)
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
    if let state = surroundings.state {
      components.append(StateSaver(file: state, dueDate: dueDate, application: application))
    }
    if let journal = surroundings.journal {
      components.append(JournalReporter(journal: journal, application: application))
    }
    if let date = surroundings.dueDate { dueDate.set(date) }
    do {
      connections = try connections ?? ConnectionManager(application: application, service: surroundings.tips)
    } catch {
      preconditionFailure("\(error)")  // two resources of one name: a mistake in this file
    }
    (self.dueDate, self.viewModel) = (dueDate, viewModel)
  }

  /// What is set is saved on the way out; a date that is still being typed would be lost.
  func applicationShouldTerminate(_ application: Application, cause: LifecycleCause) async -> TerminateReply {
    guard let view else { return .now }
    return await view.mayQuit() ? .now : .cancel
  }
}
