import AppLifecycle
import ExampleSupport
import PubSub
import UnixHost

/// Saves the due date when the program goes to the background: the last moment at which the system lets it run for sure.
@MainActor final class StateSaver {
  /// Something about the file that the user should know; nil when it is put right.
  struct DidReport: MainActorEvent { let problem: String? }

  private let file: StateFile
  private let dueDate: DueDate
  private let bus: EventBus
  /// Why the last attempt to save failed; nil if it did not.
  private var failure: String?

  init(file: StateFile, dueDate: DueDate, application: Application) {
    (self.file, self.dueDate, bus) = (file, dueDate, application.bus)
    bus.subscribe(self, to: Application.DidEnterBackground.self) { saver, _ in saver.save() }
    bus.subscribe(self, to: Application.WillTerminate.self) { saver, _ in saver.sayWhatIsLost() }
    load()
  }

  /// Reads the due date, if there is one.
  ///
  /// What is in the file's place and holds none is kept aside. What will be in the way is told now, while the user can do
  /// something about it.
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

  /// The screen goes with the program, and its warning with it: this is what is read afterwards.
  private func sayWhatIsLost() {
    guard let failure else { return }
    StandardError.writeLine("PregTracker: \(failure)")
  }

  private func report(_ problem: String?) { bus.post(DidReport(problem: problem), from: self) }
}
