import AppLifecycle
import AppLifecycleTesting
import Foundation
import UnixHost

/// A pregnancy tracker whose label went stale, and how it is put right.
@main enum Program {
  static func main() {
    let options: Options
    do throws(Options.Mistake) {
      options = try Options(CommandLine.arguments.dropFirst())
    } catch {
      fail("\(error)\n\n\(Options.help)", status: EX_USAGE)
    }
    if options.wantsHelp {
      print(Options.help)
    } else if options.script != nil || isatty(STDOUT_FILENO) == 0 {
      play(options)
    } else {
      run(options)
    }
  }

  /// The program itself, in a terminal.
  private static func run(_ options: Options) -> Never {
    guard let path = options.statePath ?? Options.defaultStatePath({ ProcessInfo.processInfo.environment[$0] }) else {
      fail("--state PATH is needed, as neither XDG_STATE_HOME nor HOME says where", status: EX_USAGE)
    }
    MainLoop.run {
      var surroundings = TrackerDelegate.Surroundings(options)
      surroundings.state = StateFile(path: path)
      surroundings.timeOfDay = { Date().formatted(.timeOfDay) }
      if let endpoint = options.tips { surroundings.tips = { RemoteTips(endpoint) } }
      let application = Application(delegate: TrackerDelegate(surroundings))
      Application.adopt(application)
      return await TerminalHost(application: application).run()
    }
  }

  /// A script on a simulated device, whose time is not ours: a day passes at once.
  private static func play(_ options: Options) -> Never {
    let script: Script
    do throws(ScriptError) {
      script = try Script(options.script ?? ScriptedRun.demonstration)
    } catch {
      fail("\(error)", status: 2)
    }
    MainLoop.run {
      let run = ScriptedRun(.init(options))
      await run.play(script)
      print(run.record, run.labels, separator: "\n", terminator: "")
      return EXIT_SUCCESS
    }
  }

  private static func fail(_ message: String, status: CInt) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(status)
  }
}

extension TrackerDelegate.Surroundings {
  fileprivate init(_ options: Options) {
    if let path = options.todayPath { today = .file(path) }
    state = options.statePath.map(StateFile.init)
    dueDate = options.dueDate
    isStale = options.isStale
  }
}
