import AppLifecycle
import Foundation
import OutsideKit
import PubSub
import UnixHost

/// A game whose window is a script: each line of standard input is something that happens to the window.
///
/// It writes each change of state, a line each; with `--stuck` its saver blocks the main actor for ever when it goes out of sight.
@main struct OutsideGame {
  @MainActor final class Delegate: ApplicationDelegate {}
  @MainActor final class Saver {}

  private static let isStuck = CommandLine.arguments.contains("--stuck")

  static func main() {
    MainLoop.run {
      var configuration = Application.Configuration()
      if isStuck {
        configuration.didEnterBackgroundBudget = .milliseconds(100)
        configuration.willTerminateBudget = .milliseconds(100)
      }
      let application = Application(delegate: Delegate(), configuration: configuration)
      let host = WindowHost(application: application)
      let saver = Saver()
      let token = application.observe { event in
        if let record = event.record, record.kind == .state {
          say("\(record.name) (\(record.cause.rawValue))")
        }
      }
      application.bus.subscribe(to: Application.DidEnterBackground.self, for: saver, label: "saver") {
        _, _ in
        guard isStuck else { return say("saved") }
        say("stuck")
        while true { sleep(1) }
      }
      application.task {
        for await line in input() {
          if let event = WindowHost.Event(rawValue: line) { host.take(event) }
        }
      }
      defer { withExtendedLifetime((token, saver)) {} }
      return await host.run()
    }
  }

  /// The lines of standard input, read by a thread of their own.
  static func input() -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
    return stream
  }

  static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}
