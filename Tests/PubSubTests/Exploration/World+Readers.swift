#if PUBSUB_HOOKS
  @testable import PubSub

  // Iterators of sequences: receivers that no task has to run for, so that a thread of the explorer is all there is.

  extension World {
    /// An iterator that holds what comes until all threads have ended.
    struct Reader {
      let name: String
      let replays: Bool
      let making: Int
      let made: Int
      /// Takes the number of the next event that is held.
      let take: () -> Int?
    }

    /// Makes a sequence and an iterator of it.
    func read(_ name: String, replaysLatest: Bool = false) {
      guard let bus = buses[0] else { return }
      let making = now()
      let take: () -> Int?
      if isSticky {
        var iterator = bus.events(LevelDidChange.self, replay: replaysLatest ? .latest : .none).makeAsyncIterator()
        take = { iterator.nextIfHeld()?.level }
      } else {
        var iterator = bus.events(Tick.self).makeAsyncIterator()
        take = { iterator.nextIfHeld()?.number }
      }
      readers.append(Reader(name: name, replays: replaysLatest, making: making, made: now(), take: take))
    }

    /// Has a handler post once more inside the first post; without a number it only takes its turn.
    func postInside(_ number: Int?) {
      let closure = UncheckedOnce(number)
      let subscription = buses[0]?.subscribe(to: LevelDidChange.self) { [unowned self] _ in
        Interleaver.step("in a handler")
        if let number = closure.take() { post(number) }
      }
      keep(subscription)
    }

    /// Subscribes a handler that captures an object whose deinitializer calls the bus.
    func askAtEnd() {
      guard let bus = buses[0] else { return }
      let captured = Asking(bus)
      asking = bus.subscribe(to: LevelDidChange.self, priority: .low) { _ in withExtendedLifetime(captured) {} }
    }

    func cancelAsking() {
      asking?.cancel()
      asking = nil
    }

    private final class Asking: Sendable {
      private weak let bus: EventBus?
      init(_ bus: EventBus) { self.bus = bus }
      deinit { _ = bus?.latest(of: LevelDidChange.self) }
    }

    private final class UncheckedOnce: @unchecked Sendable {
      private var number: Int?
      init(_ number: Int?) { self.number = number }
      func take() -> Int? {
        defer { number = nil }
        return number
      }
    }

    /// What readers hold, against rules 10, 11 and 15.
    func judgeReaders() {
      let latest = buses[0]?.latest(of: LevelDidChange.self)?.level
      var longest: [Int] = []
      let all = readers.map { reader in
        var held: [Int] = []
        while let number = reader.take() { held.append(number) }
        judge(reader, held)
        if held.count > longest.count { longest = held }
        return held
      }
      guard isSticky else { return }
      for (reader, held) in zip(readers, all) {
        // All see one order, of which each sees the end; and that is the latest event.
        if Array(longest.suffix(held.count)) != held {
          fail("\(reader.name) saw \(held), and another reader \(longest) (rule 10)")
        }
        if let last = held.last, last != latest {
          fail("\(reader.name) ended on \(last), and replay gives \(latest.map(String.init) ?? "nothing") (rule 10)")
        }
      }
    }

    private func judge(_ reader: Reader, _ held: [Int]) {
      if Set(held).count != held.count { fail("\(reader.name) held an event twice (rule 15)") }
      let before = posts.filter { $0.ended < reader.making }
      for post in posts {
        let isHeld = held.contains(post.number)
        if !isHeld, post.begun > reader.made { fail("post \(post.number) missed \(reader.name) (rule 11)") }
        if isHeld, post.ended < reader.making, !(reader.replays && post.number == held.first) {
          fail("post \(post.number) reached \(reader.name), which came later (rule 5)")
        }
      }
      if reader.replays, held.isEmpty, !before.isEmpty { fail("\(reader.name) was given no replay (rule 15)") }
      // What one thread posts is held in the order in which the posts began.
      for thread in Set(posts.map(\.thread)) {
        let begun = posts.filter { $0.thread == thread && held.contains($0.number) }.sorted { $0.begun < $1.begun }
        let order = held.filter { number in begun.contains { $0.number == number } }
        if order != begun.map(\.number) { fail("\(reader.name) held the posts of a thread as \(order) (rule 10)") }
      }
    }
  }
#endif
