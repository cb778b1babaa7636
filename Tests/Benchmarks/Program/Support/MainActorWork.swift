import BenchmarkHarness
import Foundation
import UnixHost

/// Runs asynchronous work of the main actor from the benchmark's own first thread, on the loop that programs have.
enum MainActorWork {
  private final class Box: @unchecked Sendable {
    var result: Result<Duration, any Error>?
  }

  /// How long the work takes, by the clock on the wall: more than one thread may have a part in it.
  static func time(_ work: @escaping @MainActor () async throws -> Void) throws -> Duration {
    let box = Box()
    Task { @MainActor in
      let start = ContinuousClock.now
      do {
        try await work()
        box.result = .success(start.duration(to: .now))
      } catch {
        box.result = .failure(error)
      }
    }
    while true {
      if let result = box.result { return try result.get() }
      #if canImport(Darwin)
        RunLoop.main.run(mode: .default, before: .distantFuture)
      #else
        MainLoop.turn()
      #endif
    }
  }
}
