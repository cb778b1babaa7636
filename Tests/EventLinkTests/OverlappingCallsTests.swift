import AppLifecycle
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import EventLink

/// A transport whose steps a test performs.
private final class SteppedTransport: LinkTransport {
  private let steps = Guarded((connects: 0, ends: 0))
  let hasBegun = OneShot<Bool>()
  /// Performed by the first call of `connect`, which then fails.
  let firstConnect = Guarded<(@Sendable () async -> Void)?>(nil)
  /// Performed when the subscriptions stand.
  let didSubscribe = Guarded<(@Sendable () async -> Void)?>(nil)

  func connect(will: LinkMessage?, receive: @escaping @Sendable (LinkTransportEvent) -> Void) async throws {
    let number = steps.withLock { steps in
      steps.connects += 1
      return steps.connects
    }
    guard number == 1, let connect = firstConnect.withLock({ $0 }) else { return }
    hasBegun.settle(true)
    await connect()
    throw LinkError.connectionEnded(reason: "refused")
  }

  func subscribe(to filters: [String], quality: LinkQuality) async throws { await didSubscribe.withLock { $0 }?() }
  func publish(_ message: LinkMessage, number: UInt64) -> Bool { true }
  func flush() {}
  /// Performed by the first call of `disconnect`.
  let firstDisconnect = Guarded<(@Sendable () async -> Void)?>(nil)

  func disconnect() async {
    let number = steps.withLock { steps in
      steps.ends += 1
      return steps.ends
    }
    if number == 1 { await firstDisconnect.withLock { $0 }?() }
  }

  var ends: Int { steps.withLock { $0.ends } }
}

/// Calls of a link's methods, and ends of its connection, during other calls.
@MainActor @Suite(.timeLimit(.hang)) struct `Overlapping calls of a link` {
  private let transport = SteppedTransport()
  private let application = Application(delegate: Bare())

  @Test func `a connection that ends while the link is being opened leaves no fleet that looks current`() async throws {
    let fleet = Fleet()
    let link = try EventLink(of: application, to: transport) { try $0.follow(fleet, on: "shop/+") }
    transport.didSubscribe.withLock { step in
      step = { [unowned link] in await link.connectionDidEnd(1, because: "gone") }
    }
    try await link.open()
    #expect(!fleet.isCurrent)
    await #expect(throws: LinkError.connectionEnded(reason: "gone")) { try await link.run() }
    await link.close()
    transport.didSubscribe.withLock { $0 = nil }
    try await link.open()
    #expect(fleet.isCurrent)
  }

  @Test func `an attempt that fails late does not end the connection that came after it`() async throws {
    let gate = OneShot<Bool>()
    transport.firstConnect.withLock { $0 = { _ = await gate.value } }
    let link = try EventLink(of: application, to: transport) { try $0.receive(OrderPlaced.self, as: "orders") }
    let first = Task { try await link.open() }
    _ = await transport.hasBegun.value
    await link.close()
    try await link.open()
    gate.settle(true)
    await #expect(throws: LinkError.connectionEnded(reason: "refused")) { try await first.value }
    #expect(transport.ends == 1 && link.isUp(2))
  }

  @Test func `a close that ends late does not close the connection that came after it`() async throws {
    let (hasBegun, gate) = (OneShot<Bool>(), OneShot<Bool>())
    transport.firstDisconnect.withLock { step in
      step = {
        hasBegun.settle(true)
        _ = await gate.value
      }
    }
    let fleet = Fleet()
    let link = try EventLink(of: application, to: transport) { try $0.follow(fleet, on: "shop/+") }
    try await link.open()
    let first = Task { await link.close() }
    _ = await hasBegun.value
    await link.close()
    try await link.open()
    gate.settle(true)
    await first.value
    #expect(transport.ends == 2 && link.isUp(2) && fleet.isCurrent)
    await #expect(throws: LinkError.isOpen) { try await link.open() }
  }

  @Test func `a close that waits for the broker ends nothing after another one that did not wait`() async throws {
    let link = try EventLink(of: application, to: transport) { link in
      try link.send(OrderPlaced.self, as: "orders", quality: .atLeastOnce)
    }
    try await link.open()
    application.bus.post(OrderPlaced(id: 1))
    let closes = (0..<2).map { _ in Task { await link.close() } }
    closes[1].cancel()
    await closes[1].value
    try await link.open()
    await closes[0].value
    #expect(transport.ends == 1 && link.isUp(2))
  }

  /// Starts `run`, and returns when it waits: the task leaves the main actor only then.
  private func running(_ link: EventLink) async -> Task<Void, any Error> {
    let hasBegun = OneShot<Bool>()
    let task = Task {
      hasBegun.settle(true)
      try await link.run()
    }
    _ = await hasBegun.value
    return task
  }

  @Test(arguments: [false, true])
  func `run() ends as the link is closed, also if the transport reports the end`(isReported: Bool) async throws {
    let link = try EventLink(of: application, to: transport) { try $0.receive(OrderPlaced.self, as: "orders") }
    transport.firstDisconnect.withLock { step in
      step = { [unowned link] in if isReported { await link.connectionDidEnd(1, because: "as it was to") } }
    }
    try await link.open()
    let running = await running(link)
    await link.close()
    try await running.value
  }

  @Test func `run() ends if the link cannot be opened`() async throws {
    let gate = OneShot<Bool>()
    transport.firstConnect.withLock { $0 = { _ = await gate.value } }
    let link = try EventLink(of: application, to: transport) { try $0.receive(OrderPlaced.self, as: "orders") }
    let opening = Task { try await link.open() }
    _ = await transport.hasBegun.value
    let running = await running(link)
    gate.settle(true)
    await #expect(throws: LinkError.connectionEnded(reason: "refused")) { try await opening.value }
    try await running.value
  }
}
