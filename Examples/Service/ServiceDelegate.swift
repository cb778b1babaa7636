// A small daemon that counts the words of each line that a client sends: `swift run Service --port 7000`, then
// `nc 127.0.0.1 7000`.
// Under systemd 253 and later:
//
//     Type=notify-reload
//     WatchdogSec=30
//     ExecStart=/path/to/Service --port 7000 --journal /var/lib/words/runs.jsonl
//
// An older systemd, such as Debian 12's 252, does not know notify-reload. It warns, and treats the service as Type=simple:
// started before it is ready, without reload. For such a systemd, replace the first line by:
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
    // By default these signals end the process when a file exceeds its limit or a pipe has lost its reader. Ignored, they let the
    // write fail, which is an error to handle. The host ignores them, too, but only once it runs.
    signal(SIGXFSZ, SIG_IGN)
    signal(SIGPIPE, SIG_IGN)
    options = Options(CommandLine.arguments.dropFirst())
  }
}

extension ServiceDelegate: ServiceApplicationDelegate {
  /// Opens the journal if the options name one, and reports how the previous run ended if it did not end in order.
  func prepare(_ application: Application) {
    guard let path = options.journalPath else { return }
    // Subscribes before the journal is opened, as opening may fail. The service then runs without a journal.
    application.bus.subscribe(to: Journal.DidFail.self, for: self) { _, event in
      StandardError.writeLine("\(event.failure); \(event.missing); \(event.failure.advice)")
    }
    application.bus.subscribe(to: Journal.DidRecover.self, for: self) { _, event in
      StandardError.writeLine("\(event.path) is written again; lines that are missing: \(event.gap.lost)")
    }
    let journal = Journal(at: path, of: application)
    // The file is no journal, so there is no previous run to report. The handler above has reported the failure.
    guard journal.failure?.operation != .recognize else { return }
    let exit = journal.previousExit
    switch exit.kind {
    case .firstRun, .terminated: break
    case .stillRunning: break  // that is the failure, and it names the other process
    case .crashed, .killed, .watchdog, .deviceRestarted, .unknown:
      StandardError.writeLine("previous run: \(exit)")
    }
  }

  func applicationWillFinishLaunching(_ application: Application) {
    do {
      // The manager learns that the service is ready once the port is open. If the port is taken, the application tries again.
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
    application.bus.subscribe(to: ServiceHost.Reload.self, for: self) { delegate, _ in delegate.greeting.read() }
  }
}
