import AppLifecycle
import ExampleSupport
import PubSub
import UnixHost

/// Saves the due date when the program goes to the background: the last moment at which the system lets it run for sure.
@MainActor final class StateSaver {
  /// A problem with the file that the user should know of; nil once it is solved.
  struct DidReport: MainActorEvent { let problem: String? }

  private let file: StateFile
  private let dueDate: DueDate
  private let bus: EventBus
  /// The reason for which the last attempt to save failed; nil if it succeeded.
  private var failure: String?

  init(file: StateFile, dueDate: DueDate, application: Application) {
    (self.file, self.dueDate, bus) = (file, dueDate, application.bus)
    bus.subscribe(to: Application.DidEnterBackground.self, for: self) { saver, _ in saver.save() }
    bus.subscribe(to: Application.WillTerminate.self, for: self) { saver, _ in saver.sayWhatIsLost() }
    load()
  }

  /// Reads the due date, if there is one.
  ///
  /// A file at the path that holds no date is renamed and kept. A problem that will prevent saving is reported now, while the
  /// user can still solve it.
  private func load() {
    let content = file.read()
    if case .due(let date) = content { dueDate.set(date) }
    do throws(SystemError) {
      if case .unusable = content, let kept = try file.setAsideIfNeeded(content) {
        report("\(kept)")
      } else if let obstacle = File.obstacle(to: file.path) {
        report("\(obstacle); it cannot be written")
      }
    } catch {
      report("\(error); the due date cannot be kept")
    }
  }

  private func save() {
    guard let date = dueDate.date else { return }
    do throws(SystemError) {
      let kept = try file.save(date)
      if kept != nil || failure != nil { report(kept.map { "\($0)" }) }
      failure = nil
    } catch {
      failure = "\(error); the due date is not saved"
      report(failure)
    }
  }

  /// Writes the warning to standard error at the end: the warning on the screen disappears with the screen.
  private func sayWhatIsLost() {
    guard let failure else { return }
    StandardError.writeLine("PregTracker: \(failure)")
  }

  private func report(_ problem: String?) { bus.post(DidReport(problem: problem), from: self) }
}
