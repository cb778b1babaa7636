import AppLifecycle
import AppLifecycleTesting
import TestTraits
import Testing

/// What the first delegate of a simulated system finds as the shared application, which does not exist yet.
///
/// The tests run one after another: a system that plays beside another one is found by none.
@Suite(.serialized, .timeLimit(.hang)) @MainActor struct `The first delegate of a simulated system` {
  /// The applications that delegates have found.
  @MainActor private final class Finds {
    var inInit: [Application?] = []
    var inTask: Application?
  }

  @MainActor private final class Curious: ApplicationDelegate {
    init(_ finds: Finds) {
      finds.inInit.append(Application.current)
      Task { finds.inTask = Application.current }
    }
  }

  /// Calls a closure while another test's system plays a script.
  private func whileAnotherPlays(_ body: () async throws -> Void) async throws {
    let other = SimulatedSystem()
    let (plays, play) = AsyncStream.makeStream(of: Void.self)
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    other.addAction("wait") { [application = other.application] in
      application.task {
        await application.external {
          play.yield()
          for await _ in ends { break }
        }
      }
    }
    async let record = other.play("launch; do:wait")
    for await _ in plays { break }
    try await body()
    end.yield()
    _ = try await record
  }

  @Test func `finds no application, and not that of another test`() async throws {
    try await whileAnotherPlays {
      let finds = Finds()
      let system = SimulatedSystem { Curious(finds) }
      #expect(finds.inInit.count == 1 && finds.inInit[0] == nil)
      withExtendedLifetime(system) {}
    }
  }

  @Test func `starts tasks that find its own application`() async throws {
    try await whileAnotherPlays {
      let finds = Finds()
      let system = SimulatedSystem { Curious(finds) }
      await system.clock.settle()
      #expect(finds.inTask === system.application)
    }
  }

  @Test func `is no model for the later ones, which find the application`() async throws {
    let finds = Finds()
    let system = SimulatedSystem { Curious(finds) }
    try await system.play("launch; kill; launch")
    #expect(finds.inInit.count == 2 && finds.inInit[0] == nil && finds.inInit[1] === system.application)
  }
}
