import AppLifecycle
import LifecycleJournal
import PubSub
import SavedState

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A program that saves its state until it ends in some way: `SavedStateProbe DIRECTORY WAY [WORD…]`.
///
/// It says first what it has found: `found NUMBER`, or `mixture`. What it then does is its WAY:
///
/// - `save MICROSECONDS`: it changes and saves without pause, says each number that is acknowledged, and kills itself after that time.
/// - `keep NUMBER`: it saves a number and ends in order.
/// - `crash HOW`: once it has restored anything, it crashes in `applicationDidFinishLaunching`.
/// - `exit BYTES`: it exits while a save of so many bytes is under way.
/// - `fork`: a forked child tries to save, and then the program itself.
///
/// The further word `journal` gives it a journal, which has a crash line of its own.
@main struct SavedStateProbe {
  @MainActor static func main() async {
    let words = CommandLine.arguments.dropFirst().map(\.self)
    guard words.count >= 2 else { exit(64) }
    if words[1] == "save", let time = words.dropFirst(2).first.flatMap(UInt32.init) { killThisProcess(after: time) }
    let delegate = Delegate()
    let application = Application(delegate: delegate)
    let journal = words.contains("journal") ? Journal(at: "\(words[0])/journal.jsonl", of: application) : nil
    await application.handle(.launch)
    guard let parts = delegate.parts else { exit(70) }
    switch words[1] {
    case "save":
      for number in (parts.number.value + 1)... {
        parts.set(number)
        do { try await application.savedState.save() } catch { say("refused \(error)") }
        say("\(number)")
      }
    case "keep":
      parts.set(words.count > 2 ? Int(words[2]) ?? 0 : 0)
      await application.handle(.terminate)
    case "exit":
      parts.set(parts.number.value + 1, length: words.count > 2 ? Int(words[2]) ?? 0 : 0)
      Task { try? await application.savedState.save() }
      // The save has begun, and its thread goes on while this one leaves.
      for _ in 0..<3 { await Task.yield() }
      exit(0)
    case "fork": saveInChild(parts, of: application)
    default: break
    }
    withExtendedLifetime(journal) {}
    exit(0)
  }

  @MainActor private static func saveInChild(_ parts: Parts, of application: Application) {
    // A child of fork has one thread, and the locks that other threads held. A first save fills the caches of the Swift
    // runtime, whose locks a second one does not take.
    parts.set(parts.number.value + 1)
    application.stateKeeper?.saveAtOnce()
    let child = forkChild()
    if child == 0 { alarm(30) }
    parts.set(parts.number.value + 1)
    application.stateKeeper?.saveAtOnce()
    if child == 0 { _exit(application.savedState.problem == nil ? 1 : 0) }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    say(status == 0 ? "child refused" : "child saved")
    say(application.savedState.problem == nil ? "parent saved" : "parent refused")
  }

  /// `fork`, which Swift does not offer.
  private static func forkChild() -> pid_t {
    typealias Fork = @convention(c) () -> pid_t
    guard let symbol = dlsym(nil, "fork") else { exit(70) }
    return unsafeBitCast(symbol, to: Fork.self)()
  }

  private static func killThisProcess(after microseconds: UInt32) {
    var thread = pthread_t()
    let time = UnsafeMutableRawPointer(bitPattern: UInt(microseconds) + 1)
    pthread_create(
      &thread, nil,
      { time in
        usleep(useconds_t(UInt(bitPattern: time) - 1))
        kill(getpid(), SIGKILL)
        return nil
      }, time)
  }
}

/// What it saves: parts that must agree.
@MainActor struct Parts {
  let number: SavedValue<Int>
  let payload: SavedValue<String>
  let text: SavedValue<[String: Int]>

  init(of application: Application) throws {
    number = try application.savedState.value("number", default: 0)
    payload = try application.savedState.value("payload", default: "")
    text = try application.savedState.value("text", default: [:])
  }

  func set(_ number: Int, length: Int? = nil) {
    self.number.value = number
    payload.value = String(repeating: "\(number % 10)", count: length ?? [10, 5_000, 200_000][number % 3])
    text.value = ["number": number, "length": payload.value.utf8.count]
  }

  var isWhole: Bool {
    if number.value == 0 { return payload.value.isEmpty && text.value.isEmpty }
    let digit = "\(number.value % 10)".utf8.first
    return payload.value.utf8.allSatisfy { $0 == digit }
      && text.value == ["number": number.value, "length": payload.value.utf8.count]
  }
}

@MainActor final class Delegate {
  var parts: Parts?
}

extension Delegate: SavedStateDelegate {
  var savedStateConfiguration: SavedState.Configuration {
    SavedState.Configuration(program: "probe", directory: CommandLine.arguments[1])
  }

  func applicationWillFinishLaunching(_ application: Application) { parts = try? Parts(of: application) }

  func application(_ application: Application, didRestoreState outcome: RestorationOutcome) {
    guard let parts else { return }
    say(parts.isWhole ? "found \(parts.number.value)" : "mixture \(parts.number.value)")
    if case .setAside(let path, _, _) = outcome { say("aside \(path)") }
  }

  func applicationDidFinishLaunching(_ application: Application) {
    let words = CommandLine.arguments
    guard words.count > 3, words[2] == "crash", parts?.number.value != 0 else { return }
    switch words[3] {
    case "fatalError": fatalError("the restored state is the reason")
    case "null": UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
    case "kill": kill(getpid(), SIGKILL)
    default: exit(0)
    }
  }
}

/// Writes a line by one call.
func say(_ line: String) {
  var line = line + "\n"
  _ = line.withUTF8 { write(1, $0.baseAddress, $0.count) }
}
