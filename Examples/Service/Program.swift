// A small daemon: it counts the words of each line that it is sent. `swift run Service --port 7000`, then `nc 127.0.0.1 7000`.
// Under systemd: Type=notify-reload, WatchdogSec=30, ExecStart=/path/to/Service --port 7000 --journal /var/lib/words/runs.jsonl.

import AppLifecycle
import UnixHost

/// A `main` of its own instead of `@main` on the delegate, as a journal is opened before the launch.
@main enum Program {
  static func main() {
    MainLoop.run {
      let delegate = ServiceDelegate(Options(CommandLine.arguments.dropFirst()))
      let application = Application(delegate: delegate)
      Application.adopt(application)
      delegate.openJournal(of: application)
      return await ServiceHost(application: application).run()
    }
  }
}
