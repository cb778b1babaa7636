#if PUBSUB_HOOKS
  import Foundation
  import TestTraits
  import Testing

  @testable import PubSub

  /// The bus itself, with real threads in every order of their steps, up to a number of preemptions.
  ///
  /// `PREEMPTIONS=3` has more schedules run than by default; `SCHEDULE` repeats one, as a failure has printed it. In a process
  /// of its own: others would make records, too, and mark those that are there.
  @Suite(.longRunning, .timeLimit(.hang)) struct `Exploration of threads` {
    private static let environment = ProcessInfo.processInfo.environment

    /// Of one scenario all schedules within the bound, or the one that was asked for.
    private static func explore(_ scenario: Scenario, preemptions: Int? = nil, announces: Bool = false) -> Exploration {
      var exploration = Exploration(scenario)
      if announces { exploration.announce = { say("SCHEDULE='\(scenario.rawValue) \($0)'") } }
      let failure: Exploration.Failure?
      if let wanted = environment["SCHEDULE"] {
        guard wanted.hasPrefix(scenario.rawValue), let schedule = Schedule(wanted.dropFirst(scenario.rawValue.count))
        else { return exploration }
        failure = exploration.repeat(schedule)
        if failure == nil { say("Exploration: this schedule keeps the rules") }
      } else {
        failure = exploration.explore(
          preemptions: preemptions ?? environment["PREEMPTIONS"].flatMap { Int($0) } ?? scenario.preemptions)
        say("Exploration: \(exploration.summary)")
      }
      if let failure { Issue.record("SCHEDULE='\(scenario.rawValue) \(failure.schedule)': \(failure)") }
      return exploration
    }

    /// Says it at once: the process may end where no test expects it.
    private static func say(_ line: String) {
      print(line)
      fflush(nil)
    }

    @Test(arguments: [2, 3])
    func `Rules 1, 5, 6, 11, 13, 19 and 20: every schedule of some threads keeps them`(threads: Int) async throws {
      let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) { [threads] in
        for scenario in Scenario.allCases where scenario.threads == threads { _ = Self.explore(scenario) }
      }
      guard let result else { return try await tell(of: threads) }
      for line in result.standardOutputContent.split(separator: UInt8(ascii: "\n")) {
        print(String(decoding: line, as: UTF8.self))
      }
    }

    /// Does it once more if it has ended the process, to tell where and how.
    private func tell(of threads: Int) async throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "exploration-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      let path = file.path()
      await #expect(processExitsWith: .success) { [threads, path = path as String] in
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        dup2(descriptor, 1)
        dup2(descriptor, 2)
        for scenario in Scenario.allCases where scenario.threads == threads {
          _ = Self.explore(scenario, announces: true)
        }
      }
      let lines = String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n")
      let last = lines.lastIndex { $0.hasPrefix("SCHEDULE") } ?? lines.startIndex
      Issue.record("the process ended at \(lines[last...].prefix(40).joined(separator: "\n"))")
    }

    /// Two hook points of one name are one place.
    @Test func `every hook point is reached`() async throws {
      let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Sources/").standardized
      var expected: Set<Substring> = []
      for folder in ["CPubSub", "PubSub"] {
        let folder = root.appending(path: folder)
        let files = FileManager.default.enumerator(atPath: folder.path())?.compactMap { $0 as? String } ?? []
        for file in files where file.hasSuffix(".swift") || file.hasSuffix(".c") {
          let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
          expected.formUnion(text.matches(of: /(?:PUBSUB_HOOK|Hook\.step)\("(.*?)"\)/).map(\.1))
        }
      }
      #expect(expected.count > 20)
      // In the portable build no post takes the fast path.
      if !Calling.isDirect { expected = expected.filter { !$0.contains("the fast path") } }
      let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
        var reached: Set<String> = []
        for scenario in Scenario.allCases.sorted(by: { $0.threads < $1.threads }) {
          reached.formUnion(Self.explore(scenario, preemptions: 1).placeNames)
        }
        for place in reached { Self.say("reached \(place)") }
      }
      guard let result else { return }
      let lines = String(decoding: result.standardOutputContent, as: UTF8.self).split(separator: "\n")
      for place in expected { #expect(lines.contains("reached \(place)")) }
    }
  }
#endif
