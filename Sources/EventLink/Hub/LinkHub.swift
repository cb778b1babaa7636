import AppLifecycle
import PubSub
import Scheduling

/// What all links of a bus share: the origin, the numbers of events, and what has arrived.
///
/// Posts and what the transports report wait in an inbox. One thread or task at a time takes them out, asks the ``LinkMachine`` what to do,
/// and does it.
final class LinkHub: Sendable {
  /// An event of this process that is to be sent.
  struct Post: Sendable {
    let topic: LinkMachine.TopicID
    let number: Int
    /// The event's data, JSON or base64; nil removes the latest event of a sticky type.
    let encode: @Sendable () throws -> [UInt8]?

    /// The longest data, so that the message is one that a link takes.
    static let longest = LinkMachine.longestPayload - 4_096
  }

  enum Input: Sendable {
    case connected(EventLink, connection: Int)
    /// A link is retained slowly, as there are weak references to it; so what comes often has its number.
    case transport(LinkTransportEvent, LinkMachine.LinkID, connection: Int)
    case finish(EventLink, connection: Int)
    case closed(EventLink, connection: Int)
    case removed(LinkMachine.LinkID)
    case time

    /// Whether the input comes only when all posts before it have been sent.
    var isEnd: Bool { if case .finish = self { true } else { false } }
  }

  /// What must be awaited before the hub goes on.
  typealias Step = @Sendable () async -> Void

  struct Receiver: Sendable {
    let filter: TopicFilter
    /// The type of the events, which has one receiver for each topic; nil for other receivers.
    let type: ObjectIdentifier?
    /// The name that its events have in messages.
    let name: String
    let isSticky: Bool
    /// Posts a payload that came on a topic, or returns the step that does.
    let post: @Sendable (EventBus, [UInt8], String) throws(LinkFormatError) -> Step?
    /// Removes the latest event that came on a topic, or returns the step that does.
    let removeLatest: @Sendable (EventBus, String) -> Step?
  }

  struct Declarations {
    var types: [String: ObjectIdentifier] = [:]
    var receivers: [Receiver] = [] { didSet { receiversOfTopics = [:] } }
    /// The receivers of topics that have been looked up; peers choose the topics, so it is emptied when it is full.
    var receiversOfTopics: [String: [Receiver]] = [:]
    var subscriptions: [EventBus.Subscription] = []
    var links: [LinkMachine.LinkID: WeakLink] = [:] { didSet { receiversOfTopics = [:] } }
    var nextLink = 0
  }

  /// An object, as a copy of a weak reference takes longer than one of a strong reference.
  final class WeakLink: Sendable {
    weak let link: EventLink?
    /// What hears announcements for it.
    let receivers: [Receiver]

    init(_ link: EventLink, _ receivers: [Receiver]) { (self.link, self.receivers) = (link, receivers) }
  }

  let bus: EventBus
  let origin: String
  let tasks: TaskStarter
  /// The application, which the handlers of events see as the shared one.
  let shared: WeakReference
  let clock: ApplicationClock
  let machine: Guarded<LinkMachine>
  let inbox = Guarded(Inbox())
  let declarations = Guarded(Declarations())
  /// Held while a link looks whether another one announces on its topic, and becomes open.
  let opening = Guarded(())
  let timer = Guarded<(at: Duration, task: Task<Void, Never>)?>(nil)

  init(_ application: Application, origin: String, limits: LinkMachine.Limits) {
    (bus, tasks, clock, self.origin) = (application.bus, application.tasks, application.clock, origin)
    shared = WeakReference(application)
    machine = Guarded(LinkMachine(origin: origin, limits: limits))
  }

  /// A share of a hub, which ends with the last one.
  ///
  /// There are no weak references to a hub: they would make every other reference to it slow.
  final class Share: Sendable {
    let hub: LinkHub

    fileprivate init(_ hub: LinkHub) { self.hub = hub }

    deinit { hub.giveBack() }
  }

  private static let hubs = Guarded<[ObjectIdentifier: (hub: LinkHub, shares: Int)]>([:])

  /// A share of the hub of an application's bus.
  static func of(_ application: Application, limits: LinkMachine.Limits) -> Share {
    hubs.withLock { hubs in
      let key = ObjectIdentifier(application.bus)
      let shares = hubs[key]?.shares ?? 0
      let hub = hubs[key]?.hub ?? LinkHub(application, origin: newOrigin(), limits: limits)
      hubs[key] = (hub, shares + 1)
      return Share(hub)
    }
  }

  private static func newOrigin() -> String {
    (0..<2).map { _ in String(UInt64.random(in: 1 << 60 ... .max), radix: 16) }.joined()
  }

  /// Gives a share back; with the last one, what refers to the hub is released.
  private func giveBack() {
    let isLast = Self.hubs.withLock { hubs in
      let key = ObjectIdentifier(bus)
      guard let shares = hubs[key]?.shares, shares > 1 else { return hubs.removeValue(forKey: key) != nil }
      hubs[key]?.shares = shares - 1
      return false
    }
    guard isLast else { return }
    var former = Declarations()
    declarations.withLock { swap(&$0, &former) }
    timer.withLock { $0.take() }?.task.cancel()
  }
}
