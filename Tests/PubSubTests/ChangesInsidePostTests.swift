import TestTraits
import Testing

@testable import PubSub

/// Every short sequence of changes to the subscribers, made inside a handler that cancels itself on the way.
///
/// What readers are shown has several forms (one buffer, several priorities, subjects), and each change may lead from one to
/// another while the post reads the first. One thread suffices: its own post is protected as another's would be.
@Suite(.longRunning) struct `Changes inside a post` {
  /// Subscribes what is named, or cancels it where it stands.
  private enum Change: String, CaseIterable {
    case higher, lower, sameSubject, other, crowd
  }

  /// How many of what handlers captured live.
  private final class Captured: Sendable {
    private let living: Log<Int>
    init(_ living: Log<Int>) {
      self.living = living
      living.add(1)
    }
    deinit { living.add(-1) }
  }

  /// One bus, its subscribers, and what its post has to find.
  private final class World: @unchecked Sendable {
    private let bus = EventBus()
    private let subject = Captured(Log())
    private let living = Log<Int>()
    private let called = Log<String>()
    private var standing: [Change: [EventBus.Subscription]] = [:]
    private var own: EventBus.Subscription?
    /// Whether the post under way is for the subscribers by this name.
    private var isForThem: [Change: Bool] = [:]
    private(set) var failures: [String] = []

    private var livingNow: Int { living.all.reduce(0, +) }

    private func subscribe(_ name: String, _ priority: EventBus.Priority, isTied: Bool = false) -> EventBus.Subscription
    {
      bus.subscribe(to: Tick.self, from: isTied ? subject : nil, priority: priority) {
        [called, captured = Captured(living)] _ in
        withExtendedLifetime(captured) { called.add(name) }
      }
    }

    func make(_ change: Change) {
      isForThem[change] = false
      guard standing[change] == nil else {
        for subscription in standing.removeValue(forKey: change) ?? [] { subscription.cancel() }
        return
      }
      standing[change] =
        switch change {
        case .higher: [subscribe("higher", .high)]
        case .lower: [subscribe("lower", .low)]
        case .sameSubject: [subscribe("sameSubject", .normal, isTied: true)]
        case .other: [subscribe("other", .normal)]
        // More than have room beside it, so that it is moved; and so many that it is moved again when they go.
        case .crowd: (0..<20).map { _ in subscribe("crowd", .normal) }
        }
    }

    func run(_ before: [Change], _ inside: [Change], cancelsAfter count: Int) {
      own = bus.subscribe(to: Tick.self) { [unowned self, captured = Captured(living)] _ in
        withExtendedLifetime(captured) {}
        // From here on nothing is read that was captured, so that a mistake is counted, and not crashed at.
        changeInside(inside, cancelsAfter: count)
      }
      for change in before { make(change) }
      for change in standing.keys { isForThem[change] = true }
      let isBeforeOwn = standing[.higher] != nil
      bus.post(Tick(), from: subject)
      expect(called.all.filter { $0 == "higher" }.count, isBeforeOwn ? 1 : 0, "calls of higher")
      for change in Change.allCases where change != .higher {
        let expected = isForThem[change] == true ? standing[change]?.count ?? 0 : 0
        expect(called.all.filter { $0 == "\(change)" }.count, expected, "calls of \(change)")
      }
      expect(livingNow, standing.values.reduce(0) { $0 + $1.count }, "living after the post")
      standing = [:]
      expect(livingNow, 0, "living after all were cancelled")
      expect(bus.subscriptions.count, 0, "listed at the end")
    }

    private func changeInside(_ changes: [Change], cancelsAfter count: Int) {
      let own = own.take()
      for index in 0...changes.count {
        if index == count { own?.cancel() }
        // The handler that runs keeps what it captured, and no other cancelled one does.
        expect(livingNow, standing.values.reduce(1) { $0 + $1.count }, "living at change \(index)")
        if index < changes.count { make(changes[index]) }
      }
    }

    private func expect(_ found: Int, _ expected: Int, _ what: String) {
      if found != expected { failures.append("\(what): \(found) instead of \(expected)") }
    }
  }

  private static func sequences(upTo length: Int) -> [[Change]] {
    var all: [[Change]] = [[]]
    var longest: [[Change]] = [[]]
    for _ in 0..<length {
      longest = longest.flatMap { sequence in Change.allCases.map { sequence + [$0] } }
      all += longest
    }
    return all
  }

  @Test func `Rules 5 and 6: no sequence of them releases what the post reads, or has it miss or double a handler`() {
    var count = 0
    for before in Self.sequences(upTo: 2) {
      for inside in Self.sequences(upTo: 3) {
        for place in 0...inside.count {
          let world = World()
          world.run(before, inside, cancelsAfter: place)
          count += 1
          if !world.failures.isEmpty {
            let (before, inside) = (before.map(\.rawValue), inside.map(\.rawValue))
            Issue.record("\(before), then inside \(inside), cancelled after \(place): \(world.failures)")
            return
          }
        }
      }
    }
    #expect(count == 31 * (1 + 2 * 5 + 3 * 25 + 4 * 125))
  }
}
