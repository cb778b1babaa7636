import AppLifecycle
import AppLifecycleTesting
import Foundation
import NotificationCenterBridge
import PubSub
import Testing

#if !canImport(ObjectiveC)
  /// A component that never removes its observer, as on iOS, where the process ends with everything in it.
  @MainActor private final class Component {
    init(_ center: NotificationCenter, _ log: Log, process: Int) {
      center.addObserver(forName: UIApplication.didBecomeActiveNotification, object: nil, queue: nil) { [self] _ in
        MainActor.assumeIsolated { log.add("\(process) \(wasTold)") }
      }
      .forget()
    }

    private let wasTold = true
  }

  extension NSObjectProtocol {
    fileprivate func forget() {}
  }

  @MainActor private final class Delegate {
    static var processes = 0
    let center: NotificationCenter
    let log: Log
    var link: NotificationLink?
    /// What the process made; nothing but its observer retains it.
    let made = Made()

    final class Made {
      weak var component: Component?
    }

    init(_ center: NotificationCenter, _ log: Log) { (self.center, self.log) = (center, log) }
  }

  extension Delegate: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) {
      link = NotificationCenterBridge(application.bus, to: center).postLifecycle()
      Self.processes += 1
      let component = Component(center, log, process: Self.processes)
      made.component = component
    }
  }

  /// As unchanged code of iOS does, it adds an observer as it is made, and later one that keeps the application.
  @MainActor private final class Keeper {
    static var processes = 0
    let (center, log): (NotificationCenter, Log)

    init(_ center: NotificationCenter, _ log: Log) {
      (self.center, self.log) = (center, log)
      Self.processes += 1
      observe { [log, process = Self.processes] in log.add("\(process)") }
    }

    private func observe(_ body: @escaping @MainActor () -> Void) {
      center.addObserver(forName: UIApplication.didBecomeActiveNotification, object: nil, queue: nil) { _ in
        MainActor.assumeIsolated(body)
      }
      .forget()
    }
  }

  extension Keeper: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) {
      observe { [log] in log.add("\(application.state)") }
    }
  }

  /// It removes its observers itself: those of a component when it is released, and another one at once.
  @MainActor private final class Tidy {
    let (center, sessions): (NotificationCenter, SessionLog)

    init(_ center: NotificationCenter) { (self.center, sessions) = (center, SessionLog(center)) }
  }

  extension Tidy: ApplicationDelegate {
    func applicationDidFinishLaunching(_ application: Application) {
      let name = UIApplication.didReceiveMemoryWarningNotification
      center.removeObserver(center.addObserver(forName: name, object: nil, queue: nil) { _ in })
    }
  }

  @Suite(.serialized) @MainActor struct `An observer of a simulated process` {
    private let center = NotificationCenter()
    private let log = Log()

    private func system() -> SimulatedSystem {
      Delegate.processes = 0
      return SimulatedSystem { [center, log] in Delegate(center, log) }
    }

    @Test(arguments: ["kill", "crash", "suspend; reclaim", "quit"])
    func `ends with the process`(end: String) async throws {
      let system = system()
      try await system.play("launch; home")
      let made = try #require(system.application.delegate as? Delegate).made
      #expect(made.component != nil)
      try await system.play("\(end); launch; home; open")
      #expect(log.all == ["1 true", "2 true", "2 true"], "\(log.all)")
      #expect(made.component == nil)
    }

    @Test func `ends with the simulation`() async throws {
      var system: SimulatedSystem? = system()
      try await system?.play("launch")
      system = nil
      center.post(name: UIApplication.didBecomeActiveNotification, object: nil)
      #expect(log.all == ["1 true"], "\(log.all)")
    }

    @Test
    func
      `ends with its process and with the simulation, also if the delegate's init has added it and it keeps the application`()
      async throws
    {
      Keeper.processes = 0
      var system: SimulatedSystem? = SimulatedSystem { [center, log] in Keeper(center, log) }
      let link = NotificationCenterBridge(try #require(system).bus, to: center).postLifecycle()
      try await system?.play("launch; kill; launch; kill; launch")
      #expect(log.all.sorted() == ["1", "2", "3", "active", "active", "active"])
      weak let application = system?.application
      system = nil
      center.post(name: UIApplication.didBecomeActiveNotification, object: nil)
      let isGone = application == nil
      #expect(log.all.count == 6 && isGone)
      withExtendedLifetime(link) {}
    }

    // A center uses the number of an observer that was removed again, so a second removal would be that of another observer.

    @Test(arguments: [
      (UIApplication.didBecomeActiveNotification, ["launch; kill", "launch"]),
      (UIApplication.didReceiveMemoryWarningNotification, ["launch", "kill; launch; memory"]),
    ])
    func `ends alone, also if its component removes it`(name: Notification.Name, scripts: [String]) async throws {
      let system = SimulatedSystem { [center] in Tidy(center) }
      let link = NotificationCenterBridge(system.bus, to: center).postLifecycle()
      try await system.play(scripts[0])
      let observer = center.addObserver(forName: name, object: nil, queue: nil) { [log] _ in log.add("test") }
      try await system.play(scripts[1])
      #expect(log.all == ["test"], "\(log.all)")
      center.removeObserver(observer)
      withExtendedLifetime(link) {}
    }

    @Test func `stays if the test has added it while no process ran, or is the program itself`() async throws {
      let name = UIApplication.didBecomeActiveNotification
      let system = system()
      let observers = [
        center.addObserver(forName: name, object: nil, queue: nil) { [log] _ in log.add("test") }
      ]
      try await system.play("launch; kill; launch")
      #expect(log.all.filter { $0 == "test" }.count == 2)
      let program = SimulatedSystem()
      let link = NotificationCenterBridge(program.bus, to: center).postLifecycle()
      try await program.play("launch")
      let late = Application.withShared(program.application) {
        center.addObserver(forName: name, object: nil, queue: nil) { [log] _ in log.add("program") }
      }
      try await program.play("kill; launch")
      #expect(log.all.contains("program"))
      for observer in observers + [late] { center.removeObserver(observer) }
      withExtendedLifetime(link) {}
    }
  }
#endif
