import Scheduling

/// The duties of a transport toward a link, as scenarios that a test runs on a transport of your own.
///
///     let violations = try await TransportContract.check { MyTransport(host: "localhost") }
///     #expect(violations.isEmpty)
///
/// The transports connect to one broker, which carries nothing on topics below `swift-app-lifecycle/contract`.
///
/// | scenario | shows |
/// | --- | --- |
/// | a hundred messages of each quality | they arrive once, in order, unchanged, and are acknowledged |
/// | filters with `+` and `#` | what matches arrives, and nothing else |
/// | a message that is kept | a later subscriber gets it; an empty one removes it |
/// | ``LinkTransport/disconnect()`` | the will is not sent; a message that was published before arrives |
/// | the release of a connected transport | the will is sent, as after a crash |
/// | a second connection of one transport | it begins without subscriptions |
public enum TransportContract {
  /// Plays the scenarios.
  ///
  /// - Parameters:
  ///   - patience: the time that a message may take.
  ///   - makeTransport: makes a transport.
  /// - Returns: what the transport does not do as it should, one sentence each; empty if it keeps the contract.
  /// - Throws: the error of a connection.
  public static func check(
    patience: Duration = .seconds(10), _ makeTransport: @escaping @Sendable () -> any LinkTransport
  ) async throws -> [String] {
    let check = Check(patience, makeTransport)
    try await check.order()
    try await check.filters()
    try await check.kept()
    try await check.ends()
    try await check.secondConnection()
    return check.violations.withLock { $0 }
  }
}

/// The events of one connection.
private final class Ear: Sendable {
  private struct State {
    var events: [LinkTransportEvent] = []
    var waiter: (OneShot<Bool>, @Sendable ([LinkTransportEvent]) -> Bool)?
  }

  private let state = Guarded(State())
  private let patience: Duration

  init(_ patience: Duration) { self.patience = patience }

  func hear(_ event: LinkTransportEvent) {
    let settled = state.withLock { state -> OneShot<Bool>? in
      state.events.append(event)
      guard let (wait, condition) = state.waiter, condition(state.events) else { return nil }
      state.waiter = nil
      return wait
    }
    settled?.settle(true)
  }

  /// Waits until what was heard meets a condition; returns whether it does.
  func hears(_ condition: @escaping @Sendable ([LinkTransportEvent]) -> Bool) async -> Bool {
    let wait = OneShot<Bool>()
    let isMet = state.withLock { state in
      if condition(state.events) { return true }
      state.waiter = (wait, condition)
      return false
    }
    if isMet { return true }
    let clear = TimerThread.shared.set(after: patience, on: .continuous) { wait.settle(false) }
    defer { clear() }
    return await wait.value
  }

  var events: [LinkTransportEvent] { state.withLock { $0.events } }
  var messages: [LinkMessage] { events.compactMap { if case .received(let message) = $0 { message } else { nil } } }
}

private final class Check: Sendable {
  static let root = "swift-app-lifecycle/contract"

  let violations = Guarded<[String]>([])
  private let patience: Duration
  private let makeTransport: @Sendable () -> any LinkTransport

  init(_ patience: Duration, _ makeTransport: @escaping @Sendable () -> any LinkTransport) {
    (self.patience, self.makeTransport) = (patience, makeTransport)
  }

  private func expect(_ condition: Bool, _ sentence: @autoclosure () -> String) {
    if condition { return }
    let sentence = sentence()
    violations.withLock { $0.append(sentence) }
  }

  private func connected(
    _ transport: any LinkTransport, will: LinkMessage? = nil, to filters: [String]
  ) async throws -> Ear {
    let ear = Ear(patience)
    try await transport.connect(will: will) { ear.hear($0) }
    if !filters.isEmpty { try await transport.subscribe(to: filters, quality: .atLeastOnce) }
    return ear
  }

  private func message(_ topic: String, _ text: String, _ quality: LinkQuality, isKept: Bool = false) -> LinkMessage {
    LinkMessage(topic: "\(Self.root)/\(topic)", payload: Array(text.utf8), quality: quality, isRetained: isKept)
  }

  /// Waits for a message that is sent now, and so for all that was sent before it on its way.
  private func pass(_ topic: String, by sender: any LinkTransport, to ear: Ear) async {
    let last = message(topic, "the last one", .atLeastOnce)
    expect(sender.publish(last, number: 1_000_000), "a connected transport refuses a message")
    sender.flush()
    let came = await ear.hears {
      $0.contains { if case .received(let one) = $0 { one.payload == last.payload } else { false } }
    }
    expect(came, "a message on \(last.topic) does not arrive")
  }

  func order() async throws {
    let (sender, receiver) = (makeTransport(), makeTransport())
    let sent = try await connected(sender, to: [])
    let ear = try await connected(receiver, to: ["\(Self.root)/order"])
    var expected: [LinkMessage] = []
    for number in 0..<200 {
      let quality: LinkQuality = number < 100 ? .atMostOnce : .atLeastOnce
      var message = message("order", "", quality)
      message.payload = (0..<number).map { UInt8(truncatingIfNeeded: $0 * 7) } + [UInt8(truncatingIfNeeded: number)]
      expected.append(message)
      expect(sender.publish(message, number: UInt64(number)), "a connected transport refuses a message")
      // Rows of several lengths.
      if number % 7 == 0 || number < 10 { sender.flush() }
    }
    await pass("order", by: sender, to: ear)
    let came = Array(ear.messages.prefix(200))
    expect(came.map(\.payload) == expected.map(\.payload), "messages of a topic do not arrive once and in order")
    expect(came.map(\.quality) == expected.map(\.quality), "a message arrives with another quality")
    let isAcknowledged = await sent.hears { events in
      Set(events).isSuperset(of: (0..<200).map { .acknowledged(UInt64($0)) })
    }
    expect(isAcknowledged, "a message is not acknowledged")
    await sender.disconnect()
    await receiver.disconnect()
  }

  func filters() async throws {
    let transport = makeTransport()
    let ear = try await connected(transport, to: ["\(Self.root)/a/+/c", "\(Self.root)/b/#", "\(Self.root)/end"])
    let topics = ["a/1/c", "a/1/2/c", "a/1", "b", "b/1", "b/1/2", "c/1/c"]
    for topic in topics { transport.publish(message(topic, topic, .atLeastOnce), number: 0) }
    await pass("end", by: transport, to: ear)
    let came = Set(ear.messages.map { String($0.topic.dropFirst(Self.root.count + 1)) })
    expect(came == ["a/1/c", "b", "b/1", "b/1/2", "end"], "the filters let \(came.sorted()) through")
    await transport.disconnect()
  }

  func kept() async throws {
    let sender = makeTransport()
    let first = try await connected(sender, to: ["\(Self.root)/kept"])
    for text in ["old", "new"] { sender.publish(message("kept", text, .atLeastOnce, isKept: true), number: 0) }
    sender.flush()
    _ = await first.hears { $0.count { if case .received = $0 { true } else { false } } == 2 }
    let later = makeTransport()
    let ear = try await connected(later, to: ["\(Self.root)/kept"])
    _ = await ear.hears { !$0.isEmpty }
    expect(
      ear.messages.map(\.payload) == [Array("new".utf8)],
      "a later subscriber does not get the latest message that is kept")
    expect(ear.messages.allSatisfy(\.isRetained), "a message that was kept does not say so")
    sender.publish(message("kept", "", .atLeastOnce, isKept: true), number: 0)
    sender.flush()
    expect(
      await ear.hears { $0.contains { if case .received(let one) = $0 { one.payload.isEmpty } else { false } } },
      "the removal of a message that is kept does not arrive")
    let last = makeTransport()
    let nothing = try await connected(last, to: ["\(Self.root)/kept"])
    await pass("kept", by: sender, to: nothing)
    expect(nothing.messages.count == 1, "an empty message does not remove what is kept")
    for transport in [sender, later, last] { await transport.disconnect() }
  }

  func ends() async throws {
    let watcher = makeTransport()
    let ear = try await connected(watcher, to: ["\(Self.root)/ends/#"])
    let orderly = makeTransport()
    _ = try await connected(orderly, will: message("ends/order", "will", .atLeastOnce), to: [])
    orderly.publish(message("ends/order", "done", .atMostOnce), number: 0)
    await orderly.disconnect()
    expect(
      !orderly.publish(message("ends/order", "late", .atMostOnce), number: 0),
      "a transport that is not connected takes a message")
    // It is released at once.
    _ = try await connected(makeTransport(), will: message("ends/crash", "will", .atLeastOnce), to: [])
    let came = await ear.hears { events in
      events.contains { if case .received(let one) = $0 { one.topic.hasSuffix("ends/crash") } else { false } }
    }
    expect(came, "the will of a connection that was lost is not sent")
    expect(
      ear.messages.filter { $0.topic.hasSuffix("order") }.map(\.payload) == [Array("done".utf8)],
      "an end in order does not send what was published before, or sends the will")
    await watcher.disconnect()
  }

  func secondConnection() async throws {
    let (transport, sender) = (makeTransport(), makeTransport())
    _ = try await connected(transport, to: ["\(Self.root)/second"])
    await transport.disconnect()
    let ear = try await connected(transport, to: ["\(Self.root)/third"])
    _ = try await connected(sender, to: [])
    sender.publish(message("second", "old", .atLeastOnce), number: 0)
    await pass("third", by: sender, to: ear)
    expect(ear.messages.count == 1, "a second connection has the subscriptions of the first")
    await transport.disconnect()
    await sender.disconnect()
  }
}
