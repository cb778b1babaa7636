import AppLifecycle
import LifecycleJournal
import PubSub
import UnixHost

/// Tells the user how the run before this one ended, if not in order, and when the journal cannot be written.
@MainActor final class JournalReporter {
  /// What the user should know; nil where all is well.
  struct DidReport: MainActorEvent {
    let previousRun: String?
    let problem: String?
  }

  private let journal: Journal
  private let bus: EventBus
  private var failure: Journal.DidFail?

  init(journal: Journal, application: Application) {
    (self.journal, bus) = (journal, application.bus)
    // With replay: the journal was opened, or failed to open, before any component could subscribe.
    bus.subscribe(self, to: Journal.DidFail.self, replay: .latest, on: .shared) { reporter, event in
      reporter.failure = event
      reporter.report()
    }
    bus.subscribe(self, to: Journal.DidRecover.self, on: .shared) { reporter, _ in reporter.report() }
    bus.subscribe(self, to: Application.WillTerminate.self) { reporter, _ in reporter.sayWhatIsMissing() }
    report()
  }

  private func report() {
    // A file that is no journal says nothing about a run.
    let isForeign = journal.failure?.operation == .recognize
    let previousRun = isForeign ? nil : journal.previousExit.notice
    bus.post(DidReport(previousRun: previousRun, problem: problem), from: self)
  }

  /// The last failure, unless the journal can be written again: that may be so before its event arrives.
  private var problem: String? {
    guard let failure, journal.failure != nil || failure.failure.operation == .rotate else { return nil }
    return "\(failure.failure); \(failure.missing)"
  }

  /// The screen goes with the program, and its warning with it: this is what is read afterwards.
  private func sayWhatIsMissing() {
    guard let failure = journal.failure else { return }
    StandardError.writeLine("PregTracker: \(failure); the journal may lack a part of this run")
  }
}

extension PreviousExit {
  /// What the user should know of it; nil where there is nothing to say.
  var notice: String? {
    switch kind {
    case .firstRun, .terminated: nil
    case .stillRunning: nil  // the journal's failure says so, and names the other process
    case .killedWhileSuspended, .killedInBackground, .crashedInForeground, .watchdog, .deviceRestarted, .unknown:
      "previous run: \(self)"
    }
  }
}
