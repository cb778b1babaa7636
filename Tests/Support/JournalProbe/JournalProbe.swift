import AppLifecycle
import JournalWorkload
import LifecycleJournal
import PubSub

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A program that posts and journals as fast as it can until it is killed: `JournalProbe FILE SEED SIZE FLUSH COUNT`.
///
/// SIZE is the length of a file of the journal, FLUSH `flush` or `never`, COUNT the number of inputs after which it waits to be
/// killed instead. On standard output it says first how the run before ended, and then, after each input, the input's number:
/// all that the input led to has been appended by then.
@main struct JournalProbe {
  @MainActor static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count == 6, let seed = UInt64(arguments[2]), let size = Int(arguments[3]),
      let count = Int(arguments[5])
    else { exit(64) }
    let application = Application(delegate: BareDelegate())
    var posted = 0
    let counting = application.bus.subscribe(to: Application.StateDidChange.self) { _ in posted += 1 }
    var configuration = Journal.Configuration()
    configuration.maximumSize = size
    configuration.keptFiles = 10_000
    if arguments[4] == "never" { configuration.flush = .never }
    let failing = application.bus.subscribe(to: Journal.DidFail.self, replay: .latest) { say("failed \($0.failure)") }
    let journal = Journal(at: arguments[1], of: application, configuration: configuration)
    say("previous \(journal.previousExit.kind.rawValue)")
    for (number, input) in zip(0..<count, JournalWorkload(seed: seed)) {
      await application.handle(input, cause: JournalWorkload.cause(number))
      say("\(number)")
    }
    say("done")
    while true { pause() }
    withExtendedLifetime((counting, failing)) {}
  }

  /// Writes a line by one call.
  nonisolated static func say(_ line: String) {
    var line = line + "\n"
    _ = line.withUTF8 { write(1, $0.baseAddress, $0.count) }
  }
}
