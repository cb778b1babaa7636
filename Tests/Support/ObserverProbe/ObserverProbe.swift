import AppLifecycle
import Foundation
import NotificationCenterBridge
import ProbeSupport
import UnixHost

/// A program with a component that knows the notification center alone, for the tests to drive in a terminal and as a
/// service.
///
/// The component sends its data in a task that it does not announce, as components for iOS do.
@main @MainActor final class ObserverProbe {
  private var link: NotificationLink?
  private var component: Component?

  init() {}
}

extension ObserverProbe: MainApplicationDelegate {
  static var configuration: Application.Configuration {
    var configuration = Application.Configuration()
    configuration.backgroundGrace = Options.shared.grace
    configuration.backgroundGraceEndsEarly = Options.shared.endsEarly
    if let budget = Options.shared.budget { configuration.didEnterBackgroundBudget = budget }
    return configuration
  }

  func prepare(_ application: Application) { Log.shared.follow(application) }

  func applicationWillFinishLaunching(_ application: Application) {
    Log.shared.write("pid \(getpid())")
    link = NotificationCenterBridge(application.bus)
      .postLifecycle(servicesEnterBackground: Options.shared.servicesEnterBackground)
    component = Component()
  }
}

/// Sends what it has when the application enters the background.
private final class Component: Sendable {
  init() {
    for name in ["DidEnterBackground", "WillTerminate"] {
      _ = NotificationCenter.default.addObserver(
        forName: Notification.Name("UIApplication\(name)Notification"), object: nil, queue: nil
      ) { _ in
        Log.shared.write("observed \(name)")
        if name == "DidEnterBackground" { Self.flush() }
      }
    }
  }

  private static func flush() {
    Log.shared.write("flush begin")
    Task {
      if let gate = Options.shared.gate { await Gate(gate).pass() }
      if let duration = Options.shared.flush { try? await Task.sleep(for: duration) }
      Log.shared.write("flush end")
    }
  }
}

/// What the command line asks for.
private struct Options: Sendable {
  static let shared = Options(CommandLine.arguments.dropFirst())

  /// `--log PATH`: where everything that happens is appended, a line each.
  private(set) var log: String?
  /// `--flush MS`: sending takes so long.
  private(set) var flush: Duration?
  /// `--gate PATH`: it waits until a byte can be read from this named pipe.
  private(set) var gate: String?
  /// `--grace MS`: the grace; the default without it.
  private(set) var grace: Duration?
  /// `--ends-early`: it ends as soon as nothing is under way.
  private(set) var endsEarly = false
  /// `--budget MS`: the budget of `didEnterBackground`.
  private(set) var budget: Duration?
  /// `--services`: the observers of a service are told of the background before its end.
  private(set) var servicesEnterBackground = false

  private init(_ arguments: some Sequence<String>) {
    var rest = Array(arguments)[...]
    while let option = rest.popFirst() {
      switch option {
      case "--log": log = rest.popFirst()
      case "--gate": gate = rest.popFirst()
      case "--flush": flush = Self.duration(rest.popFirst())
      case "--grace": grace = Self.duration(rest.popFirst())
      case "--budget": budget = Self.duration(rest.popFirst())
      case "--ends-early": endsEarly = true
      case "--services": servicesEnterBackground = true
      default: fatalError("unknown option \(option)")
      }
    }
  }

  private static func duration(_ text: String?) -> Duration {
    guard let text, let milliseconds = Int(text) else { fatalError("a number of milliseconds is missing") }
    return .milliseconds(milliseconds)
  }
}

extension Log {
  /// The file that the test reads.
  fileprivate static let shared = Log(Options.shared.log)
}
