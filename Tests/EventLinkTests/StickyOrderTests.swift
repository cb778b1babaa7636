import AppLifecycle
import AppLifecycleTesting
import EventLink
import PseudoTerminal
import PubSub
import Scheduling
import TestTraits
import Testing

/// Runs code as it is released; the bus releases the event that another one replaces before the handlers of that one are called.
private final class AtRelease: Sendable {
  private let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  deinit { body() }
}

private struct Level: BusEvent, StickyEvent, Codable {
  var value: Int
  var atRelease: AtRelease? = nil
  enum CodingKeys: CodingKey { case value }
}

/// What other threads can do at the same time, done while the event that is replaced or removed is released.
@MainActor @Suite(.timeLimit(.hang)) struct `Bus and broker keep the same latest event (8, 9) of` {
  private let broker = MemoryBroker()

  private func process() throws -> Process {
    try Process(broker.transport()) { try $0.share(Level.self, as: "level", quality: .atLeastOnce) }
  }

  /// Returns the latest value of a bus where `change` replaces or removes an event and `other` runs as that is released, and of a
  /// process that comes later.
  private func latest(
    after change: (Process) -> Void, during other: @escaping @Sendable (EventLink, EventBus) -> Void
  ) async throws -> [Int?] {
    let here = try process()
    try await here.system.play("launch")
    let (link, bus) = (here.link, here.bus)
    bus.post(Level(value: 1, atRelease: AtRelease { other(link, bus) }))
    try await here.system.play("wait:1s")
    change(here)
    try await here.system.play("wait:1s")
    let there = try process()
    try await there.system.play("launch wait:1s")
    return [bus, there.bus].map { $0.latest(of: Level.self)?.value }
  }

  @Test func `two posts`() async throws {
    #expect(
      try await latest(after: { $0.bus.post(Level(value: 2)) }, during: { $1.post(Level(value: 3)) }) == [3, 3])
  }

  @Test func `a post and a removal`() async throws {
    #expect(
      try await latest(
        after: { $0.bus.post(Level(value: 2)) }, during: { link, _ in link.removeLatest(of: Level.self) }) == [
          nil, nil,
        ])
  }

  @Test func `a removal and a post`() async throws {
    #expect(
      try await latest(after: { $0.link.removeLatest(of: Level.self) }, during: { $1.post(Level(value: 3)) }) == [3, 3])
  }

  @Test(arguments: [false, true]) func `a post and what comes over the link`(isRemoved: Bool) async throws {
    let (application, remote) = (Application(delegate: Bare()), broker.transport())
    let (bus, former) = (application.bus, isRemoved ? nil : 9)
    let payload = former.map {
      #"{"specversion":"1.0","id":"1","source":"other","type":"Level","data":{"value":\#($0)}}"#
    }
    let message = LinkMessage(
      topic: "level", payload: Array((payload ?? "").utf8), quality: .atMostOnce, isRetained: true)
    // Before the link subscribes: what it sends, it holds for a while.
    bus.post(
      Level(
        value: 1,
        atRelease: AtRelease {
          _ = remote.publish(message, number: 1)
          while bus.latest(of: Level.self)?.value != former {}
        }))
    let link = try EventLink(of: application, to: broker.transport()) {
      try $0.share(Level.self, as: "level", quality: .atLeastOnce)
      try $0.send(OrderPlaced.self, as: "orders", quality: .atLeastOnce)
    }
    try await link.open()
    try await remote.connect(will: nil) { _ in }
    await onThread { bus.post(Level(value: 2)) }
    // What the broker gave back before it acknowledged a later event has been handled.
    let isOver = OneShot<Bool>()
    let subscription = bus.subscribe(to: EventLink.DidAcknowledge.self) {
      if $0.topic == "orders" { isOver.settle(true) }
    }
    bus.post(OrderPlaced(id: 1))
    _ = await isOver.value
    subscription.cancel()
    let kept = try broker.retained["level"].map { message in
      let text = String(decoding: message.payload, as: UTF8.self)
      return try #require([2, 9].first { text.contains("\"value\":\($0)") })
    }
    #expect(bus.latest(of: Level.self)?.value == kept)
    await link.close()
  }
}
