// A small daemon: it counts the words of each line that it is sent. `swift run Service --port 7000`, then `nc 127.0.0.1 7000`.
// Under systemd 253 and later:
//
//     Type=notify-reload
//     WatchdogSec=30
//     ExecStart=/path/to/Service --port 7000 --journal /var/lib/words/runs.jsonl
//
// An older systemd, as Debian 12's 252, does not know notify-reload: it warns and takes the service for Type=simple, which is
// started before it is ready and cannot be reloaded. Write there instead of the first line:
//
//     Type=notify
//     ExecReload=/bin/kill -HUP $MAINPID

import AppLifecycle
import LifecycleJournal
import PubSub
import UnixHost

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@main @MainActor final class ServiceDelegate {
  private let options: Options
  private lazy var greeting = Greeting(path: options.greetingPath)

  init() {
    // By default these signals end the process where a file may not grow and where a pipe has lost its reader; ignored, they
    // make the write fail, which is an error to handle. The host does the same, but not before it runs.
    signal(SIGXFSZ, SIG_IGN)
    signal(SIGPIPE, SIG_IGN)
    options = Options(CommandLine.arguments.dropFirst())
  }
}

extension ServiceDelegate: ServiceApplicationDelegate {
  /// Records the run, if that was asked for, and says how the one before ended, if not in order.
  func prepare(_ application: Application) {
    guard let path = options.journalPath else { return }
    // Before it is opened: that may fail already. The service goes on without.
    application.bus.subscribe(self, to: Journal.DidFail.self) { _, event in
      StandardError.writeLine("\(event.failure); \(event.missing)")
    }
    application.bus.subscribe(self, to: Journal.DidRecover.self) { _, event in
      StandardError.writeLine("\(event.path) is written again; lines that are missing: \(event.gap.lost)")
    }
    let journal = Journal(at: path, of: application)
    // A file that is no journal says nothing about a run; the failure has been written.
    guard journal.failure?.operation != .recognize else { return }
    let exit = journal.previousExit
    switch exit.kind {
    case .firstRun, .terminated: break
    case .stillRunning: break  // that is the failure, and it names the other process
    case .killedWhileSuspended, .killedInBackground, .crashedInForeground, .watchdog, .deviceRestarted, .unknown:
      StandardError.writeLine("previous run: \(exit)")
    }
  }

  func applicationWillFinishLaunching(_ application: Application) {
    do {
      // The manager is told that the service is ready once the port is open. One that is taken is tried again.
      try application.manage("server", while: .running) { [options, greeting] in
        let server = try Server(port: options.port, greeting: greeting)
        StandardError.writeLine("listening on port \(server.port)")
        return server
      } release: { [options] server in
        await server.drain(within: options.drainTime)
      }
    } catch {
      StandardError.writeLine("\(error)")
    }
    application.bus.subscribe(self, to: ServiceHost.Reload.self) { delegate, _ in delegate.greeting.read() }
  }
}
