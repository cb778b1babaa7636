import AppLifecycle
import AppLifecycleTesting
import ExampleSupport
import Foundation
import LifecycleJournal
import UnixHost

/// A pregnancy tracker whose label went stale, and the subscription that keeps it right.
@main enum Program {
  static func main() {
    // By default these signals end the process when a file exceeds its limit or a pipe has lost its reader. Ignored, they let the
    // write fail, which is an error to handle. The host ignores them, too, but only once it runs.
    signal(SIGXFSZ, SIG_IGN)
    signal(SIGPIPE, SIG_IGN)
    let options: Options
    do throws(Options.Mistake) {
      options = try Options(CommandLine.arguments.dropFirst())
    } catch {
      fail("PregTracker: \(error); see --help", status: EX_USAGE)
    }
    if options.wantsHelp {
      exit(StandardOutput.write(Options.help + "\n", for: "PregTracker"))
    } else if options.journalPath != nil, isatty(STDOUT_FILENO) == 0 {
      fail("PregTracker: --journal is for a run in a terminal, and standard output is none", status: EX_USAGE)
    } else if options.script != nil || isatty(STDOUT_FILENO) == 0 {
      play(options)
    } else {
      run(options)
    }
  }

  /// The program itself, in a terminal.
  private static func run(_ options: Options) -> Never {
    // Checked before the journal is opened, so that a run that does not take place leaves no record.
    if let obstacle = TerminalHost.obstacle(to: .init()) { fail("PregTracker: \(obstacle)", status: EX_UNAVAILABLE) }
    MainLoop.run {
      var surroundings = TrackerDelegate.Surroundings(options)
      surroundings.timeOfDay = { Date().timeOfDay }
      if let endpoint = options.tips { surroundings.tips = { RemoteTips(endpoint) } }
      let delegate = TrackerDelegate(surroundings)
      var configuration = Application.Configuration()
      // The user answers whether to quit, and may take their time.
      configuration.shouldTerminateBudget = .seconds(3600)
      let application = Application(delegate: delegate, configuration: configuration)
      Application.adopt(application)
      // Opened before the launch, it holds the whole run.
      delegate.surroundings.journal = options.journalPath.map { Journal(at: $0, of: application) }
      return await TerminalHost(application: application).run()
    }
  }

  /// Plays a script on a simulated device, in virtual time: a day passes at once.
  private static func play(_ options: Options) -> Never {
    MainLoop.run {
      var surroundings = TrackerDelegate.Surroundings(options)
      if options.script == nil, options.dueDate == nil {
        // A demonstration needs a label to watch.
        surroundings.dueDate = try? surroundings.today.read().advanced(by: 138)
      }
      let run = ScriptedRun(surroundings)
      do {
        try await run.play(options.script ?? ScriptedRun.demonstration)
      } catch {
        fail("\(error)", status: 2)
      }
      return StandardOutput.write(run.text, for: "PregTracker")
    }
  }

  private static func fail(_ message: String, status: CInt) -> Never {
    StandardError.writeLine(message)
    exit(status)
  }
}

extension Date {
  /// `14:03:07`, in the present time zone.
  fileprivate var timeOfDay: String {
    let time = Calendar.autoupdatingCurrent.dateComponents([.hour, .minute, .second], from: self)
    return [time.hour, time.minute, time.second].map { String(100 + ($0 ?? 0)).dropFirst() }.joined(separator: ":")
  }
}

extension TrackerDelegate.Surroundings {
  fileprivate init(_ options: Options) {
    if let path = options.todayPath { today = .file(path) }
    stateDirectory = options.stateDirectory
    dueDate = options.dueDate
    isStale = options.isStale
  }
}
