import AppLifecycle
import BenchmarkHarness
import CLinkFloor
import EventLink
import PseudoTerminal
import PubSub
import Scheduling

/// A sender and a receiver, which are connected by the broker.
protocol Pair {
  var quality: LinkQuality { get }
  /// Its column in the tables.
  var column: String { get }
  var meter: Meter { get }
  /// Sends events up to a number, with at most so many on their way, and returns when they have arrived.
  func send(through number: Int, window: Int) throws
}

/// All pairs that are measured.
@MainActor struct Pairs {
  let links: [LinkPair]
  let plain: [PlainPair]
  let clients: [ClientPair]

  var all: [any Pair] { links + plain + clients }

  init(port: UInt16) async throws {
    var links: [LinkPair] = []
    for quality in LinkQuality.allCases {
      for coding in [OrderPlaced.coding, nil] { links.append(try await LinkPair(port: port, quality, coding)) }
    }
    self.links = links
    plain = try LinkQuality.allCases.map { try PlainPair(port: port, $0) }
    clients =
      try installedProgram("mosquitto_pub").map { publisher in
        try installedProgram("mosquitto_sub").map { subscriber in
          try LinkQuality.allCases.map { try ClientPair(publisher, subscriber, port: port, $0) }
        } ?? []
      } ?? []
  }

  func end() async {
    for link in links { await link.end() }
    for pair in plain { pair.end() }
    for pair in clients { await pair.end() }
  }
}

/// Counts the events that arrive, and waits for them.
final class Meter: @unchecked Sendable {
  let pointer: OpaquePointer

  init() { pointer = link_meter_new() }
  deinit { link_meter_free(pointer) }

  var count: Int { link_meter_count(pointer) }

  func note(_ number: Int) { link_meter_note(pointer, number) }

  /// Waits until an event has arrived, and returns when it did, in nanoseconds.
  @discardableResult func wait(for number: Int, _ place: @autoclosure () -> String) throws -> UInt64 {
    var time: UInt64 = 0
    guard link_meter_wait(pointer, number, &time) else {
      throw WorkNotDone("\(place()): event \(number) has not come within 20 s; the last one was \(count)")
    }
    guard link_meter_faults(pointer) == 0 else { throw WorkNotDone("\(place()): events came in the wrong order") }
    return time
  }
}

struct OrderPlaced: BusEvent, Codable {
  static var name: EventName { "OrderPlaced" }
  var cents = 1_999
  var customer = "C-20417"
  let id: Int
}

extension OrderPlaced {
  /// What the plain program does: it writes the fields between fixed words, and reads the number of one.
  static let coding = EventLink.Coding<OrderPlaced> { order in
    Array(#"{"cents":\#(order.cents),"customer":"\#(order.customer)","id":\#(order.id)}"#.utf8)
  } decode: { data in
    guard let place = data.lastIndex(of: UInt8(ascii: ":")) else { throw WorkNotDone("an order without a number") }
    return OrderPlaced(id: data[(place + 1)...].reduce(0) { $1 < 0x3A ? $0 * 10 + Int($1 & 0xF) : $0 })
  }
}

/// A bus that sends, and another one that receives.
final class LinkPair: Pair {
  let quality: LinkQuality
  let column: String
  let meter = Meter()
  let bus: EventBus
  private let sender: EventLink
  private let receiver: EventLink
  private let subscription: EventBus.Subscription
  private static let topic = "bench/orders"

  @MainActor private final class Bare: ApplicationDelegate {}

  @MainActor init(port: UInt16, _ quality: LinkQuality, _ coding: EventLink.Coding<OrderPlaced>?) async throws {
    (self.quality, column) = (quality, coding == nil ? Column.codable : Column.link)
    let (here, there) = (Application(delegate: Bare()), Application(delegate: Bare()))
    let topic = "\(Self.topic)/\(column)/\(quality)"
    #if MQTT
      func transport() -> some LinkTransport { MQTTTransport(host: "127.0.0.1", port: Int(port)) }
    #else
      func transport() -> some LinkTransport { MemoryBroker().transport() }
    #endif
    sender = try EventLink(of: here, to: transport()) { link in
      try link.send(OrderPlaced.self, as: topic, quality: quality, coding: coding)
    }
    receiver = try EventLink(of: there, to: transport()) { link in
      try link.receive(OrderPlaced.self, as: topic, coding: coding)
    }
    bus = here.bus
    subscription = there.bus.subscribe { [meter] (order: OrderPlaced) in meter.note(order.id) }
    try await receiver.open()
    try await sender.open()
    try await checkPayload(transport(), topic)
  }

  /// Compares what the link sends with what the plain program sends.
  private func checkPayload(_ transport: some LinkTransport, _ topic: String) async throws {
    let payload = Guarded<[UInt8]?>(nil)
    let hasCome = OneShot<Bool>()
    try await transport.connect(will: nil) { event in
      // A careful link first says how many events it has sent.
      guard case .received(let message) = event,
        String(decoding: message.payload, as: UTF8.self).contains(#""type":"OrderPlaced""#)
      else { return }
      payload.withLock { $0 = message.payload }
      hasCome.settle(true)
    }
    try await transport.subscribe(to: [topic], quality: .atLeastOnce)
    bus.post(OrderPlaced(id: 1))
    _ = await hasCome.value
    await transport.disconnect()
    let sent = String(decoding: payload.withLock { $0 } ?? [], as: UTF8.self)
    let source = sent.split(separator: "\"source\":\"").last?.prefix { $0 != "\"" } ?? ""
    var text = [CChar](repeating: 0, count: 512)
    let length = link_plain_format(&text, text.count, topic, String(source), 1)
    let plain = String(decoding: text.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard sent == plain else { throw WorkNotDone("the payloads differ:\n\(sent)\n\(plain)") }
    print("Payloads of \(length) bytes, such as \(sent)")
  }

  func send(through number: Int, window: Int) throws {
    for next in meter.count + 1...number {
      if next - meter.count > window { try meter.wait(for: next - window / 2, column) }
      bus.post(OrderPlaced(id: next))
    }
    try meter.wait(for: number, column)
  }

  func end() async {
    await sender.close()
    await receiver.close()
  }
}

/// The plain program.
final class PlainPair: Pair {
  let quality: LinkQuality
  let column = Column.plain
  let meter = Meter()
  #if MQTT
    private let plain: OpaquePointer
  #endif

  init(port: UInt16, _ quality: LinkQuality) throws {
    self.quality = quality
    #if MQTT
      guard
        let plain = link_plain_open(
          Int32(port), "plain/orders/\(quality)", quality == .atMostOnce ? 0 : 1, 1_000, meter.pointer)
      else { throw WorkNotDone("the plain program has no connection") }
      self.plain = plain
    #endif
  }

  func send(through number: Int, window: Int) throws {
    #if MQTT
      guard link_plain_send(plain, number, window) else {
        throw WorkNotDone("\(column): an event has not come; the last one was \(meter.count)")
      }
    #endif
  }

  func end() {
    #if MQTT
      link_plain_close(plain)
    #endif
  }
}

extension Column {
  static let link = "link"
  static let codable = "Codable"
  static let plain = "plain C"
  static let clients = "pub/sub"
}

/// The names of the contestants.
enum Column {}
