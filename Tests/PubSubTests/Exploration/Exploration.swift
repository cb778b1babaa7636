#if PUBSUB_HOOKS
  import CPubSub

  /// All schedules of a scenario up to a number of preemptions.
  ///
  /// In a process of its own: a thread's record is the process's, and a writer looks at all of them.
  struct Exploration {
    /// A schedule that breaks a rule.
    struct Failure: CustomStringConvertible {
      let messages: [String]
      let schedule: Schedule
      let steps: [String]

      var description: String {
        "\(messages.joined(separator: "; "))\n\(steps.joined(separator: "\n"))"
      }
    }

    let scenario: Scenario
    /// Told each schedule while it comes about, lest it be lost with the process.
    var announce: (Schedule) -> Void = { _ in }
    private(set) var schedules = 0
    /// The longest schedule's number of steps.
    private(set) var mostSteps = 0
    /// Where a thread has ever been stopped, or could have been.
    var placeNames: Set<String> { Set(places.map { String(cString: $0) }) }
    private var places: Set<UnsafePointer<CChar>> = []

    init(_ scenario: Scenario) {
      self.scenario = scenario
      Self.makeRecords(scenario.threads)
      // What is made once in a process is made now.
      for _ in 0..<2 { _ = runOnce(.repeating(Schedule())) }
    }

    /// Has as many records made as there will be threads; they are reused from then on.
    private static func makeRecords(_ count: Int) {
      var threads = 0
      let body = {
        _ = pubsub_record_of_thread()
        threads += 1
        Interleaver.wait { threads == count }
      }
      _ = Interleaver.run(Array(repeating: body, count: count))
    }

    private func runOnce(_ choices: Interleaver.Choices) -> (run: Interleaver, failures: [String]) {
      let world = scenario.makeWorld()
      precondition(world.bodies.count == scenario.threads)
      // They name the world.
      defer { world.bodies = [] }
      let run = Interleaver.run(world.bodies, choices, announce: announce)
      if run.isStuck { return (run, ["no thread can go on"]) }
      world.judge()
      return (run, world.failures)
    }

    /// What has been explored.
    var summary: String { "\(scenario.rawValue), \(schedules) schedules of \(mostSteps) steps at most" }

    /// Runs all schedules, or those up to the first that fails.
    mutating func explore(preemptions: Int) -> Failure? {
      var search = ScheduleSearch(bound: preemptions)
      repeat {
        let (run, failures) = runOnce(.search(search))
        note(run)
        guard case .search(let after) = run.choices else { break }
        if after.hasDeviated { return failure(run, ["the same choices led elsewhere"] + failures) }
        if !failures.isEmpty { return failure(run, failures) }
        search = after
      } while search.advance()
      return nil
    }

    /// Runs one schedule.
    mutating func `repeat`(_ schedule: Schedule) -> Failure? {
      let (run, failures) = runOnce(.repeating(schedule))
      note(run)
      return failures.isEmpty ? nil : failure(run, failures)
    }

    private mutating func note(_ run: Interleaver) {
      schedules += 1
      mostSteps = max(mostSteps, run.steps.count)
      for step in run.steps { places.insert(step.place) }
    }

    private func failure(_ run: Interleaver, _ messages: [String]) -> Failure {
      let steps = run.steps.enumerated().map { "  \($0 + 1). thread \($1.thread): \(String(cString: $1.place))" }
      return Failure(messages: messages, schedule: run.schedule, steps: steps)
    }
  }
#endif
