import AppLifecycle
import AppLifecycleTesting
import Foundation
import PubSub
import Testing
import UnixHost

// The listings of Sources/UnixHost/UnixHost.docc/InAContainer.md, word for word.

/// Answers the probes of a container's manager with an HTTP status and a text.
@MainActor struct Probes {
  let application: Application

  func answer(to path: String) -> (status: Int, text: String) {
    switch path {
    // A main actor that is blocked gives no answer.
    case "/live": (200, "alive")
    case "/ready" where missing.isEmpty: (200, "ready")
    case "/ready": (503, "missing: \(missing.joined(separator: ", "))")
    default: (404, "no probe")
    }
  }

  /// The resources that the service needs and does not hold.
  private var missing: [String] {
    application.resources.filter { $0.phase == .running && $0.status != .held }
      .map(\.name)
  }
}

/// Keeps a file while the service can serve.
@MainActor final class ReadinessFile {
  private let path: String

  init(_ path: String, of application: Application) {
    self.path = path
    application.bus.subscribe(to: Application.ResourceDidChange.self, for: self) {
      file, event in
      file.update(event.application)
    }
    application.bus.subscribe(to: Application.WillTerminate.self, for: self) {
      file, _ in
      unlink(file.path)
    }
    update(application)
  }

  private func update(_ application: Application) {
    let isReady = application.resources.allSatisfy {
      $0.phase != .running || $0.status == .held
    }
    if isReady {
      close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o644))
    } else {
      unlink(path)
    }
  }
}

private struct NotNow: Error {}

/// Whether the database cannot be reached.
@MainActor private var isAway = false

@Suite(.serialized) @MainActor struct `The probes of a container` {
  /// A service with a database that can be away.
  private func system() throws -> SimulatedSystem {
    let system = SimulatedSystem()
    try system.application.manage("database", while: .running) { if isAway { throw NotNow() } }
    // Nothing to be ready for.
    try system.application.manage("screen", while: .foreground) {}
    return system
  }

  @Test func `ready while it holds its resources, alive as long as it answers`() async throws {
    isAway = true
    let system = try system()
    let probes = Probes(application: system.application)
    try await system.play("launch:background; wait:1s")
    #expect(probes.answer(to: "/ready") == (503, "missing: database"))
    #expect(probes.answer(to: "/live") == (200, "alive"))
    isAway = false
    try await system.play("wait:2m")
    #expect(probes.answer(to: "/ready") == (200, "ready"))
    #expect(probes.answer(to: "/other").status == 404)
    try await system.play("kill")
    #expect(probes.answer(to: "/ready").status == 503)
  }

  @Test func `a file that is there while it is ready`() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "ready-\(UUID())").path()
    func isThere() -> Bool { FileManager.default.fileExists(atPath: path) }
    // An earlier process has left it.
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    isAway = true
    let system = try system()
    let file = ReadinessFile(path, of: system.application)
    #expect(!isThere())
    try await system.play("launch:background; wait:1s")
    #expect(!isThere())
    isAway = false
    try await system.play("wait:2m")
    #expect(isThere())
    try await system.play("kill")
    #expect(!isThere())
    withExtendedLifetime(file) {}
  }
}
