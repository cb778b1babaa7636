#if PUBSUB_HOOKS
  import TestTraits
  import Testing

  /// That the explorer misses nothing within its bound, and that what it finds can be repeated.
  @Suite struct `Explorer` {
    /// What some bodies did, in the order in which they did it.
    private final class Record: @unchecked Sendable {
      var order = ""
      var counter = 0
    }

    /// Runs all schedules up to a number of preemptions; `body` is told the record of its run and the thread's number.
    private func explore(
      threads: Int = 2, preemptions: Int, _ body: @escaping (Record, Int) -> Void,
      check: (Record, Interleaver) -> Void
    ) -> Int {
      var search = ScheduleSearch(bound: preemptions)
      var count = 0
      repeat {
        let record = Record()
        let run = Interleaver.run((0..<threads).map { thread in { body(record, thread) } }, .search(search))
        count += 1
        check(record, run)
        guard case .search(let after) = run.choices, !run.isStuck else { break }
        search = after
      } while search.advance()
      return count
    }

    private func twice(_ record: Record, _ thread: Int) {
      for _ in 0..<2 {
        record.order += "\(thread)"
        Interleaver.step("between")
      }
      record.order += "\(thread)"
    }

    @Test func `two threads of three steps each run in all twenty orders, and in each once`() {
      var orders: Set<String> = []
      let count = explore(preemptions: .max, twice) { record, _ in orders.insert(record.order) }
      #expect(count == 20)
      #expect(orders.count == 20)
      #expect(orders.allSatisfy { $0.count == 6 })
    }

    @Test(arguments: [
      (0, ["000111", "111000"]), (1, ["000111", "011100", "001110", "111000", "100011", "110001"].sorted()),
    ])
    func `no thread is stopped more often than the bound says`(preemptions: Int, expected: [String]) {
      var orders: Set<String> = []
      let count = explore(preemptions: preemptions, twice) { record, _ in orders.insert(record.order) }
      #expect(orders.sorted() == expected)
      #expect(count == expected.count)
    }

    @Test func `three threads have every order, too`() {
      var orders: Set<String> = []
      let once: (Record, Int) -> Void = { record, thread in
        record.order += "\(thread)"
        Interleaver.step("between")
        record.order += "\(thread)"
      }
      let count = explore(threads: 3, preemptions: .max, once) { record, _ in orders.insert(record.order) }
      // 6! / (2! 2! 2!)
      #expect(count == 90)
      #expect(orders.count == 90)
    }

    private func increment(_ record: Record, _ thread: Int) {
      let counter = record.counter
      Interleaver.step("between reading and writing")
      record.counter = counter + 1
    }

    @Test func `a lost update is found with one preemption, and the schedule as it is printed loses it again`() throws {
      var lost: [Schedule] = []
      _ = explore(preemptions: 0, increment) { record, _ in #expect(record.counter == 2) }
      _ = explore(preemptions: 1, increment) { record, run in if record.counter < 2 { lost.append(run.schedule) } }
      #expect(lost.map(\.description) == ["1:1", "0:1 1:0"])
      for schedule in lost {
        let record = Record()
        let bodies = (0..<2).map { thread in { increment(record, thread) } }
        let run = Interleaver.run(bodies, .repeating(try #require(Schedule(schedule.description))))
        #expect(record.counter == 1)
        #expect(run.schedule == schedule)
      }
    }

    @Test func `a thread that needs a lock is not run before it is free`() {
      let lock = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
      defer { lock.deallocate() }
      let count = explore(preemptions: .max) { record, thread in
        Interleaver.lock(lock)
        increment(record, thread)
        Interleaver.unlock(lock)
      } check: { record, run in
        #expect(record.counter == 2)
      }
      #expect(count > 2)
    }

    @Test func `a thread that waits is run once that has come about`() {
      let count = explore(preemptions: .max) { record, thread in
        if thread == 0 { Interleaver.wait { record.counter == 1 } } else { increment(record, thread) }
        record.order += "\(thread)"
      } check: { record, run in
        #expect(!run.isStuck)
        #expect(record.order.count == 2)
      }
      #expect(count > 1)
    }

    /// In a process of its own, as the threads are lost.
    @Test(.longRunning) func `two threads that wait for each other are reported`() async {
      await #expect(processExitsWith: .success) {
        let locks = (0..<2).map { _ in UnsafeRawPointer(UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)) }
        var schedule: Schedule?
        _ = Explorer().explore(preemptions: 1) { _, thread in
          Interleaver.lock(locks[thread])
          Interleaver.lock(locks[1 - thread])
          Interleaver.unlock(locks[1 - thread])
          Interleaver.unlock(locks[thread])
        } check: { _, run in
          if run.isStuck { schedule = run.schedule }
        }
        #expect(schedule?.description == "2:1")
      }
    }

    @Test func `a body that is not the same in each run is told of`() {
      var search = ScheduleSearch(bound: 1)
      #expect(search.choose(among: 2, isFree: true) == 0)
      #expect(search.choose(among: 2, isFree: false) == 0)
      let hasNext = search.advance()
      #expect(hasNext && !search.hasDeviated)
      #expect(search.choose(among: 3, isFree: true) == 0)
      #expect(search.hasDeviated)
    }

    @Test(arguments: ["12", "a:1", "1:2:3", ":"])
    func `what is no schedule is not taken for one`(text: String) {
      #expect(Schedule(text) == nil)
    }
  }
#endif
