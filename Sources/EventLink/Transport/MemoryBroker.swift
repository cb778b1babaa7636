import Scheduling

/// A broker in this process, for tests: links connect to it by transports in memory.
///
/// It delivers each message before ``LinkTransport/publish(_:number:)`` returns. Any thread may use it; what several threads publish
/// at once may come to two links in two orders.
public final class MemoryBroker: Sendable {
  private struct Client {
    var filters: [TopicFilter] = []
    var will: LinkMessage?
    let receive: @Sendable (LinkTransportEvent) -> Void
  }

  private struct State {
    var isDown = false
    var next = 0
    var clients: [Int: Client] = [:]
    var retained: [String: LinkMessage] = [:]
  }

  private let state = Guarded(State())

  /// Makes a broker without messages.
  public init() {}

  /// Makes a transport to this broker.
  ///
  /// - Returns: the transport, for one link.
  public func transport() -> some LinkTransport { MemoryTransport(self) }

  /// Whether the broker refuses connections; setting it ends all connections, in order of their age, without wills.
  public var isDown: Bool {
    get { state.withLock { $0.isDown } }
    set {
      let ended = state.withLock { state in
        state.isDown = newValue
        defer { if newValue { state.clients = [:] } }
        return newValue ? state.clients.sorted { $0.key < $1.key }.map(\.value) : []
      }
      for client in ended { client.receive(.closed(reason: "the broker is down")) }
    }
  }

  /// Ends all connections, in order of their age, as if their processes had crashed: their wills are sent.
  public func cutConnections() {
    let clients = state.withLock { state in
      defer { state.clients = [:] }
      return state.clients.sorted { $0.key < $1.key }.map(\.value)
    }
    for client in clients { client.receive(.closed(reason: "the connection was cut")) }
    for will in clients.compactMap(\.will) { publish(will) }
  }

  /// Sends a message as a program without a link does.
  ///
  /// - Parameter message: the message.
  public func publish(_ message: LinkMessage) {
    let clients = state.withLock { state in
      if message.isRetained { state.retained[message.topic] = message.payload.isEmpty ? nil : message }
      return state.clients.sorted { $0.key < $1.key }.map(\.value)
    }
    for client in clients where client.filters.contains(where: { $0.matches(message.topic) }) {
      client.receive(.received(message))
    }
  }

  /// The messages that the broker keeps for later subscribers, by topic.
  public var retained: [String: LinkMessage] { state.withLock { $0.retained } }

  /// The wills of the present connections, in order of their age.
  public var wills: [LinkMessage] {
    state.withLock { $0.clients.sorted { $0.key < $1.key }.compactMap(\.value.will) }
  }

  // MARK: For transports

  fileprivate func connect(_ will: LinkMessage?, _ receive: @escaping @Sendable (LinkTransportEvent) -> Void) -> Int? {
    state.withLock { state in
      guard !state.isDown else { return nil }
      state.next += 1
      state.clients[state.next] = Client(will: will, receive: receive)
      return state.next
    }
  }

  fileprivate func subscribe(_ client: Int, to filters: [TopicFilter]) -> Bool {
    let (receive, retained) = state.withLock { state -> ((@Sendable (LinkTransportEvent) -> Void)?, [LinkMessage]) in
      state.clients[client]?.filters += filters
      let matching = state.retained.values.filter { message in filters.contains { $0.matches(message.topic) } }
      return (state.clients[client]?.receive, matching.sorted { $0.topic < $1.topic })
    }
    guard let receive else { return false }
    for message in retained { receive(.received(message)) }
    return true
  }

  fileprivate func publish(_ message: LinkMessage, number: UInt64, by client: Int) -> Bool {
    guard let receive = state.withLock({ $0.clients[client]?.receive }) else { return false }
    publish(message)
    receive(.acknowledged(number))
    return true
  }

  /// Ends a connection; the will is sent unless it ends in order.
  fileprivate func disconnect(_ client: Int, inOrder: Bool) {
    guard let gone = state.withLock({ $0.clients.removeValue(forKey: client) }) else { return }
    if !inOrder, let will = gone.will { publish(will) }
  }
}

/// A transport of a simulated process, which can end without its link.
protocol VanishingTransport: LinkTransport {
  /// Ends the connection as a killed process does.
  func vanish()
}

/// The connection of one link to a broker in memory.
private final class MemoryTransport: VanishingTransport {
  private let broker: MemoryBroker
  private let client = Guarded<Int?>(nil)

  init(_ broker: MemoryBroker) { self.broker = broker }

  deinit { vanish() }

  func connect(will: LinkMessage?, receive: @escaping @Sendable (LinkTransportEvent) -> Void) async throws {
    guard let number = broker.connect(will, receive) else {
      throw LinkError.connectionEnded(reason: "the broker is down")
    }
    client.withLock { $0 = number }
  }

  func subscribe(to filters: [String], quality: LinkQuality) async throws {
    let read = filters.compactMap { TopicFilter($0) }
    guard let number = client.withLock({ $0 }), broker.subscribe(number, to: read) else {
      throw LinkError.connectionEnded(reason: "the broker is down")
    }
  }

  func publish(_ message: LinkMessage, number: UInt64) -> Bool {
    guard let client = client.withLock({ $0 }) else { return false }
    return broker.publish(message, number: number, by: client)
  }

  func flush() {}

  func vanish() {
    if let number = client.withLock({ $0.take() }) { broker.disconnect(number, inOrder: false) }
  }

  func disconnect() async {
    if let number = client.withLock({ $0.take() }) { broker.disconnect(number, inOrder: true) }
  }
}
