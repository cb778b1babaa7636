import Scheduling
import TestTraits
import Testing

@testable import AppLifecycleTestSupport

@Suite(.timeLimit(.hang)) @MainActor struct `Shrinking a script` {
  /// Fails if these actions stand in the script in this order, whatever stands between them.
  private func contains(_ wanted: [String]) -> ([String]) async throws -> Bool {
    { script in
      var rest = wanted[...]
      for action in script where action == rest.first { rest.removeFirst() }
      return rest.isEmpty
    }
  }

  @Test(arguments: [[], ["a"], ["b", "a"], ["a", "a", "b"], ["x", "y", "z", "a", "b", "c", "d"]])
  func `leaves just what fails`(wanted: [String]) async throws {
    var random = SplitMix64(seed: 1)
    for length in 0..<40 {
      var script = (0..<length).map { _ in ["a", "b", "c", "d", "e"].randomElement(using: &random)! }
      // At random places, in order.
      var place = 0
      for action in wanted {
        place = Int.random(in: place...script.count, using: &random)
        script.insert(action, at: place)
        place += 1
      }
      #expect(try await Shrinker.shrink(script, while: contains(wanted)) == wanted, "of \(script)")
    }
  }

  @Test func `leaves no action that can go`() async throws {
    // Not monotonic: an odd number of a and one b at least.
    func fails(_ script: [String]) async throws -> Bool {
      script.count { $0 == "a" } % 2 == 1 && script.contains("b")
    }
    let script = ["a", "b", "c", "a", "a", "b", "c", "c", "b", "a", "a", "a", "a"]
    let shrunk = try await Shrinker.shrink(script, while: fails)
    #expect(try await fails(shrunk))
    for index in shrunk.indices {
      var candidate = shrunk
      candidate.remove(at: index)
      #expect(try await !fails(candidate))
    }
  }

  @Test func `makes waits as short as they may be, and then removes what is not needed any more`() async throws {
    // Seven seconds of waits.
    func fails(_ script: [String]) async throws -> Bool {
      let seconds = script.map { action in
        action.hasPrefix("wait:") && !action.hasSuffix("ms") ? Int(action.filter(\.isNumber))! : 0
      }
      return script.contains("launch") && seconds.reduce(0, +) >= 7
    }
    let shrunk = try await Shrinker.shrink(["wait:6s", "launch", "wait:6s"], while: fails)
    #expect(shrunk == ["wait:1s", "launch", "wait:6s"])
    #expect(try await Shrinker.shrink(["launch", "wait:9s"], while: fails) == ["launch", "wait:9s"])
  }
}
