import AppLifecycle
import LifecycleJournal
import PubSub
import UnixHost

/// Tells the user if the previous run did not end in order, and if the journal cannot be written.
@MainActor final class JournalReporter {
  /// A problem that the user should know of; nil if there is none.
  struct DidReport: MainActorEvent {
    let previousRun: String?
    let problem: String?
  }

  private let journal: Journal
  private let bus: EventBus
  private var failure: Journal.DidFail?

  init(journal: Journal, application: Application) {
    (self.journal, bus) = (journal, application.bus)
    // With replay, as the journal was opened, or failed to open, before any component could subscribe.
    bus.receive(Journal.DidFail.self, for: self, replay: .latest) { @MainActor reporter, event in
      reporter.failure = event
      reporter.report()
    }
    bus.receive(Journal.DidRecover.self, for: self) { @MainActor reporter, _ in reporter.report() }
    bus.subscribe(to: Application.WillTerminate.self, for: self) { reporter, _ in reporter.sayWhatIsMissing() }
    report()
  }

  private func report() {
    // If the file is no journal, there is no previous run to report.
    let isForeign = journal.failure?.operation == .recognize
    let previousRun = isForeign ? nil : journal.previousExit.notice
    bus.post(DidReport(previousRun: previousRun, problem: problem), from: self)
  }

  /// The last failure, unless the journal can be written again, which may be true before the event of the recovery arrives.
  private var problem: String? {
    guard let failure, journal.failure != nil || failure.failure.operation == .rotate else { return nil }
    return "\(failure.failure); \(failure.missing)"
  }

  /// Writes the warning to standard error at the end: the warning on the screen disappears with the screen.
  private func sayWhatIsMissing() {
    guard let failure = journal.failure else { return }
    StandardError.writeLine("PregTracker: \(failure); the journal may lack a part of this run")
  }
}

extension PreviousExit {
  /// The text that the user should read; nil if there is nothing to report.
  var notice: String? {
    switch kind {
    case .firstRun, .terminated: nil
    case .stillRunning: nil  // the journal's failure says so, and names the other process
    case .crashed, .killed, .watchdog, .deviceRestarted, .unknown:
      "previous run: \(self)"
    }
  }
}
