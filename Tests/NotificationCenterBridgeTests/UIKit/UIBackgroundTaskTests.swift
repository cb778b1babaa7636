import AppLifecycle
import AppLifecycleTesting
import Foundation
import NotificationCenterBridge
import Synchronization
import Testing

#if !canImport(UIKit)
  @Suite @MainActor struct `A background task with UIKit's names` {
    private let system = SimulatedSystem()
    private let log = Log()

    private var application: UIApplication { system.application }

    /// The records of tasks and reports.
    private var records: [String] {
      system.record.filter { $0.kind == .task || $0.kind == .report }.map(\.name)
    }

    @Test func `expires once and is ended by its handler`() async throws {
      try await system.play("launch")
      let task = Mutex(UIBackgroundTaskIdentifier.invalid)
      let begun = application.beginBackgroundTask(withName: "upload") { [log, application] in
        log.add("expired")
        application.endBackgroundTask(task.withLock { $0 })
      }
      task.withLock { $0 = begun }
      #expect(begun != .invalid && begun.rawValue > 0)
      try await system.play("home; wait:60s")
      #expect(log.all == ["expired"])
      #expect(application.state == .suspended)
      #expect(records == ["expire:upload"])
    }

    @Test func `purges the application if it has no handler and is not ended`() async throws {
      try await system.play("launch")
      _ = application.beginBackgroundTask(expirationHandler: nil)
      try await system.play("home; wait:60s")
      #expect(application.state == .notRunning)
      #expect(records.contains { $0.hasPrefix("backgroundTimeExpired") })
    }

    @Test func `shows the time that remains`() async throws {
      try await system.play("launch")
      #expect(application.backgroundTimeRemaining == .greatestFiniteMagnitude)
      let task = application.beginBackgroundTask(withName: "upload")
      try await system.play("home; wait:10s")
      #expect(application.backgroundTimeRemaining == 20)
      application.endBackgroundTask(task)
    }

    // MARK: Bad input

    @Test func `that ends twice, and an identifier without a task, are reported; none is ignored`() async throws {
      try await system.play("launch")
      let task = application.beginBackgroundTask(withName: "upload")
      application.endBackgroundTask(task)
      application.endBackgroundTask(.invalid)
      try await system.play("home")
      #expect(records.isEmpty, "\(records)")
      application.endBackgroundTask(task)
      application.endBackgroundTask(UIBackgroundTaskIdentifier(rawValue: 77))
      application.endBackgroundTask(UIBackgroundTaskIdentifier(rawValue: -1))
      application.endBackgroundTask(UIBackgroundTaskIdentifier(rawValue: .min))
      try await system.play("open")
      #expect(
        records == ["taskEndedTwice:\(task.rawValue)", "taskEndedTwice:77"], "\(records)")
    }

    @Test func `of an earlier process is ignored`() async throws {
      try await system.play("launch")
      let task = application.beginBackgroundTask(withName: "upload")
      try await system.play("crash; launch")
      application.endBackgroundTask(task)
      try await system.play("home; open")
      #expect(!records.contains { $0.hasPrefix("taskEndedTwice") }, "\(records)")
    }

    @Test func `that begins before the launch or after the end is invalid, without a call`() async throws {
      for script in ["wait:1s", "launch; quit"] {
        try await system.play(script)
        let task = application.beginBackgroundTask(withName: "late") { [log] in log.add("expired") }
        #expect(task == .invalid)
        try await system.play("wait:1s")
        application.endBackgroundTask(task)
      }
      #expect(log.all == [])
      #expect(!records.contains { $0.hasPrefix("taskEndedTwice") }, "\(records)")
    }

    // MARK: Threads

    @Test func `begins and ends on any thread, each with an identifier of its own`() async throws {
      let application = self.application
      try await system.play("launch")
      let identifiers = await withTaskGroup(of: [UIBackgroundTaskIdentifier].self) { group in
        for thread in 0..<8 {
          group.addTask {
            (0..<1_000).map { index in
              let task = application.beginBackgroundTask(withName: "\(thread).\(index)") {}
              application.endBackgroundTask(task)
              return task
            }
          }
        }
        var all: [UIBackgroundTaskIdentifier] = []
        for await identifiers in group { all += identifiers }
        return all
      }
      #expect(Set(identifiers).count == 8_000)
      try await system.play("home; wait:6s")
      #expect(application.state == .suspended)
      #expect(records.isEmpty, "\(records.prefix(3))")
    }
  }
#endif
