import AppLifecycle
import AppLifecycleTesting
import Foundation
import NotificationCenterBridge
import PubSub
import Scheduling
import Testing

/// What a host makes of a platform's notifications is what the simulated system makes of the script that leads to them.
@Suite @MainActor struct `The record of a host` {
  /// A process of a simulated system: from a launch to the end, or to where the script leaves it.
  private struct Process {
    var records: [LifecycleRecord] = []
    var hasTerminated = false
    /// It vanished: no notification tells that.
    var isLost = false

    var steps: [Step] {
      let steps = records.steps
      return isLost ? steps.dropLast(where: { $0.name == ApplicationState.notRunning.rawValue }) : steps
    }

    /// What the platform says at its launch.
    @MainActor var facts: PlatformDouble.Facts {
      let first = records.first { $0.kind == .state }
      let dataEvents = records.filter { $0.kind == .delegate && $0.name.contains("ProtectedData") }
      return PlatformDouble.Facts(
        launchesInBackground: first?.state == .background,
        dataIsProtected: dataEvents.first?.name == ApplicationCallback.protectedDataDidBecomeAvailable.rawValue)
    }
  }

  private func processes(in record: [LifecycleRecord]) -> [Process] {
    var processes: [Process] = []
    var present: Process?
    for new in record {
      if present == nil, new.kind == .state { present = Process() }
      present?.records.append(new)
      if new.name == ApplicationCallback.willTerminate.rawValue { present?.hasTerminated = true }
      if new.kind == .state, new.state == .notRunning {
        if var ended = present {
          ended.isLost = !ended.hasTerminated
          processes.append(ended)
        }
        present = nil
      }
    }
    if let present { processes.append(present) }
    return processes
  }

  /// Plays a script on the simulated system, posts its notifications again, and compares.
  ///
  /// - Returns: how many notifications there were.
  @discardableResult
  private func check(
    _ script: String, _ profile: LifecycleProfile, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Int {
    let system = SimulatedSystem(profile: profile)
    try await system.play(script)
    var count = 0
    for process in processes(in: system.record) {
      let double = PlatformDouble(.uiKit, profile: profile, facts: process.facts)
      for record in process.records where record.kind == .notification {
        double.post(record.name, of: record.scene)
        count += 1
      }
      let (expected, found) = (process.steps, double.steps)
      if !script.contains("second") {
        #expect(found == expected, "\(script)", sourceLocation: sourceLocation)
      } else {
        // With several windows, the application's own steps come with the first or the last of them.
        for scene in [nil, "main", "second"] {
          #expect(
            found.filter { $0.scene == scene }.map(\.name) == expected.filter { $0.scene == scene }.map(\.name),
            "\(script)",
            sourceLocation: sourceLocation)
        }
      }
    }
    return count
  }

  @Test func `is that of each sequence in LifeCycle.md`() async throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "Docs/LifeCycle.md"), encoding: .utf8)
    let commands = page.matches(of: /\$ lifecycle simulate (--profile scene )?'([^']*)'/)
    #expect(commands.count >= 15)
    var count = 0
    for command in commands {
      count += try await check(String(command.output.2), command.output.1 == nil ? .application : .scenes)
    }
    #expect(count > 100)
  }

  @Test func `is that of every short script`() async throws {
    let alphabet = [
      "launch", "home", "open", "interrupt:call", "end:call", "passcode:on; lock", "unlock", "suspend", "kill",
    ]
    for script in scripts(of: alphabet, upTo: Self.depth) { try await check("launch; \(script)", .application) }
    for script in scripts(of: alphabet, upTo: 2) { try await check("launch:background; \(script)", .application) }
  }

  @Test func `is that of every short script with scenes`() async throws {
    let alphabet = [
      "launch", "home", "open", "scene:unfocus:main", "scene:focus:main", "scene:reclaim:main", "scene:close:main",
      "interrupt:call", "end:call", "kill",
    ]
    for script in scripts(of: alphabet, upTo: Self.depth) { try await check("launch; \(script)", .scenes) }
  }

  @Test(arguments: [
    "passcode:on; lock; launch:background; unlock; open", "passcode:on; lock; fetch; unlock",
    "passcode:on; launch; lock; crash; fetch; unlock; open; kill",
  ])
  func `knows of data that was protected before the launch`(script: String) async throws {
    #expect(try await check(script, .application) > 0)
    #expect(try await check(script, .scenes) > 0)
  }

  @Test func `is that of random scripts`() async throws {
    let seed = UInt64.random(in: .min ... .max)
    print("HostRecordTests: seed \(seed)")
    var random = SplitMix64(seed: seed)
    let actions = [
      "launch", "launch:background", "home", "open", "interrupt:call", "end:call", "interrupt:alert", "end:alert",
      "lock", "unlock",
      "passcode:on", "passcode:off", "memory", "time", "switcher", "switcher:return", "switcher:leave", "switcher:kill",
      "suspend",
      "wake", "fetch", "wait:6s", "quit", "kill", "crash", "reboot",
    ]
    let scenes = [
      "scene:connect:second", "scene:open:second", "scene:background:second", "scene:unfocus:main", "scene:focus:main",
      "scene:unfocus:second", "scene:focus:second", "scene:reclaim:second", "scene:close:second", "scene:close:main",
      "scene:reclaim:main",
    ]
    for _ in 0..<100 {
      let script = (0..<15).map { _ in actions.randomElement(using: &random)! }
      try await check("launch; " + script.joined(separator: "; "), .application)
      try await check("launch; " + script.joined(separator: "; "), .scenes)
      let more = (0..<15).map { _ in (actions + scenes + scenes).randomElement(using: &random)! }
      try await check("launch; " + more.joined(separator: "; "), .scenes)
    }
  }

  /// `SCRIPTS=all` looks at longer ones.
  private static var depth: Int { ProcessInfo.processInfo.environment["SCRIPTS"] == "all" ? 4 : 2 }

  private func scripts(of alphabet: [String], upTo length: Int) -> [String] {
    var all: [String] = []
    var last = [""]
    for _ in 0..<length {
      last = last.flatMap { script in alphabet.map { script.isEmpty ? $0 : "\(script); \($0)" } }
      all += last
    }
    return all
  }
}

extension [Step] {
  fileprivate func dropLast(where matches: (Step) -> Bool) -> [Step] {
    guard let last, matches(last) else { return self }
    return dropLast()
  }
}
