import AppLifecycleTesting

/// Makes a failing script shorter and simpler, as long as it still fails.
@MainActor enum Shrinker {
  /// Returns a failing script from which no action can be removed, and whose waits cannot be shortened.
  ///
  /// It removes chunks of actions first, then single actions (delta debugging); without any one of its actions, the
  /// result does not fail. Then it makes each wait as short as possible, and tries to remove actions again.
  ///
  /// - Parameters:
  ///   - actions: a script that fails.
  ///   - fails: returns whether a script fails in the same way.
  /// - Returns: the shrunk script.
  /// - Throws: what `fails` throws.
  /// - Complexity: quadratic in the number of actions, in calls of `fails`, if little can be removed.
  static func shrink(_ actions: [String], while fails: ([String]) async throws -> Bool) async throws -> [String] {
    var actions = actions
    while true {
      actions = try await removing(from: actions, while: fails)
      let simpler = try await shorteningWaits(of: actions, while: fails)
      if simpler == actions { return actions }
      actions = simpler
    }
  }

  private static func removing(
    from actions: [String], while fails: ([String]) async throws -> Bool
  ) async throws -> [String] {
    var rest = actions
    var chunks = 2
    while !rest.isEmpty {
      let size = (rest.count + chunks - 1) / chunks
      var start = 0
      var isReduced = false
      while start < rest.count, !isReduced {
        var candidate = rest
        candidate.removeSubrange(start..<min(start + size, rest.count))
        if try await fails(candidate) {
          (rest, isReduced) = (candidate, true)
        } else {
          start += size
        }
      }
      if isReduced {
        chunks = max(chunks - 1, 2)
      } else if size == 1 {
        break
      } else {
        chunks = min(chunks * 2, rest.count)
      }
    }
    return rest
  }

  private static let waits = ["1ms", "10ms", "100ms", "1s", "2s", "5s", "10s", "30s", "1m", "1h", "1d"]
    .map { "wait:\($0)" }

  private static func shorteningWaits(
    of actions: [String], while fails: ([String]) async throws -> Bool
  ) async throws -> [String] {
    var actions = actions
    for index in actions.indices {
      guard let length = length(ofWait: actions[index]) else { continue }
      for wait in waits {
        guard let shorter = self.length(ofWait: wait), shorter < length else { break }
        var candidate = actions
        candidate[index] = wait
        if try await fails(candidate) {
          actions = candidate
          break
        }
      }
    }
    return actions
  }

  private static func length(ofWait action: String) -> Duration? {
    guard let kind = try? Script(action).actions.first?.kind, case .wait(let length) = kind else { return nil }
    return length
  }
}
