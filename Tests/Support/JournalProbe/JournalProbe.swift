import AppLifecycle
import JournalWorkload
import LifecycleJournal
import PubSub

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A program that posts and journals as fast as it can until it is killed: `JournalProbe FILE SEED SIZE FLUSH COUNT [END]`.
///
/// SIZE is the length of a file of the journal, FLUSH `flush` or `never`, COUNT the number of inputs after which it waits to be
/// killed instead, or ends itself in the way END. On standard output it says first how the run before ended, and then, after each input, the input's number:
/// all that the input led to has been appended by then.
@main struct JournalProbe {
  @MainActor static func main() async {
    let arguments = CommandLine.arguments
    guard (6...7).contains(arguments.count), let seed = UInt64(arguments[2]), let size = Int(arguments[3]),
      let count = Int(arguments[5])
    else { exit(64) }
    // The thread of a test that starts this program may block signals, and one that is blocked would end nothing.
    var noSignals = sigset_t()
    sigemptyset(&noSignals)
    sigprocmask(SIG_SETMASK, &noSignals, nil)
    let application = Application(delegate: BareDelegate())
    var posted = 0
    let counting = application.bus.subscribe(to: Application.StateDidChange.self) { _ in posted += 1 }
    var configuration = Journal.Configuration()
    configuration.maximumSize = size
    configuration.keptFiles = 10_000
    if arguments[4] == "never" { configuration.flush = .never }
    let failing = application.bus.receive(Journal.DidFail.self, replay: .latest) { @concurrent event in
      say("failed \(event.failure)")
    }
    if arguments.last == "beside" { DeathBesideAWriter.prepare() }
    let journal = Journal(at: arguments[1], of: application, configuration: configuration)
    say("previous \(journal.previousExit.kind.rawValue)")
    for (number, input) in zip(0..<count, JournalWorkload(seed: seed)) {
      await application.handle(input, cause: JournalWorkload.cause(number))
      say("\(number)")
    }
    say("done")
    if arguments.count == 7 {
      var words = arguments[6].split(separator: " ").map(String.init)
      if words.first == "full" {
        // More lines than the limit has room for, and then no other.
        words.removeFirst()
        await application.handle(.launch)
        for _ in 0..<400 { await application.handle(.memoryWarning) }
      }
      if words == ["fork"] {
        closeInChild(journal, at: arguments[1])
        words = ["exit"]
      }
      if words == ["shrunk"] {
        // Less than a file begins with, and then a line for which the file is put aside.
        var limit = rlimit(rlim_cur: 100, rlim_max: 100)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        await application.handle(.memoryWarning, cause: LifecycleCause(rawValue: String(repeating: "x", count: size)))
        words = ["exit"]
      }
      if words == ["beside"] { DeathBesideAWriter.begin(journal) }
      if words == ["terminate"] {
        await application.handle(.terminate)
        Glibc.exit(0)
      }
      end(words.joined())
    }
    while true { pause() }
    withExtendedLifetime((counting, failing)) {}
  }

  /// Closes the journal in a forked child, and says what its parent still has.
  @MainActor private static func closeInChild(_ journal: Journal, at path: String) {
    let room = blocks(of: path)
    let child = forkChild()
    if child == 0 {
      journal.close()
      _exit(0)
    }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    say(blocks(of: path) == room ? "room kept" : "room lost")
    say(Journal(at: path).failure == nil ? "lock lost" : "lock kept")
  }

  /// The room that a file takes on the disk.
  private nonisolated static func blocks(of path: String) -> Int {
    var status = stat()
    stat(path, &status)
    return Int(status.st_blocks)
  }

  /// Ends the process.
  nonisolated static func end(_ way: String) {
    switch way {
    case "fatalError": fatalError("the test's")
    case "abort": abort()
    case "null": UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
    case "overflow": say("\(Int.max - Int(arguments.count) + Int(arguments.count * 2))")
    case "stack": say("\(depth(of: arguments.count))")
    case "signal": raise(SIGFPE)
    case "thread":
      var thread = pthread_t()
      pthread_create(&thread, nil, { _ in fatalError("a thread's") }, nil)
      while true { pause() }
    case "child":
      // A crash of a child is not the parent's.
      let child = forkChild()
      if child == 0 { abort() }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      kill(getpid(), SIGKILL)
    case "kill": kill(getpid(), SIGKILL)
    default: Glibc.exit(0)
    }
  }

  private nonisolated static var arguments: [String] { CommandLine.arguments }

  @inline(never) private nonisolated static func depth(of number: Int) -> Int {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 1_024) { memory in
      memory[0] = number
      return depth(of: number + 1) + memory[0]
    }
  }

  /// `fork`, which Swift does not offer.
  private nonisolated static func forkChild() -> pid_t {
    typealias Fork = @convention(c) () -> pid_t
    guard let symbol = dlsym(nil, "fork") else { Glibc.exit(70) }
    return unsafeBitCast(symbol, to: Fork.self)()
  }

  /// Writes a line by one call.
  nonisolated static func say(_ line: String) {
    var line = line + "\n"
    _ = line.withUTF8 { write(1, $0.baseAddress, $0.count) }
  }
}
