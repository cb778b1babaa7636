public import AppLifecycle
public import PubSub
import Scheduling

/// A connection of an application's bus to a broker, which carries events between processes.
///
/// The link declares which events cross, and on which topics. The connection is a resource of the life cycle:
///
///     let link = try EventLink(of: application, to: transport) { link in
///       try link.share(OrderPlaced.self, as: "orders/placed", quality: .atLeastOnce)
///       try link.receive(Alarm.self, as: "alarms/#")
///     }
///     try application.manage("broker", while: .running) {
///       try await link.open()
///     } run: {
///       try await link.run()
///     } release: {
///       await link.close()
///     }
///
/// When the connection breaks, `run()` throws, and the application connects again after a while. Events that are posted
/// meanwhile wait. `Docs/LinkContract.md` says what is delivered, in which order, and what is lost.
///
/// All links of a bus share an origin: an event that two of them carry has one number, and an event that comes by two
/// ways is posted once. Any thread may use a link.
public final class EventLink: Sendable {
  /// How much a link keeps, and how long it waits.
  public struct Options: Sendable, Hashable {
    /// The number of events of each topic that wait while the link is down; of further ones the oldest is dropped.
    ///
    /// Of events that are sent at least once, ``kept`` more wait. Posts that come faster than they are encoded wait besides: as many
    /// again of each topic, and at least 10,000 of it.
    public var waiting = 10_000
    /// The number of events of each topic that are kept for receivers that have missed them, if they are sent at least once.
    public var kept = 1_000
    /// The time in which an origin must send something of what this process has missed, before that is given up.
    public var patience = Duration.seconds(30)

    /// Makes the default options.
    public init() {}
  }

  private struct State {
    /// The number of the present connection, or of the next one.
    var connection = 0
    var isOpen = false
    /// Whether the present connection has been made, and its subscriptions are confirmed.
    var isConnected = false
    /// Why the present connection has ended; nil while it lasts.
    var reason: String?
    /// The calls of `run` and `close` that wait.
    var runs: [OneShot<Bool>] = []
    var closes: [(connection: Int, end: OneShot<Bool>)] = []
    var hasOverflowed = false
    /// Whether the application ends while the link is up, which names what it has not sent as it is closed.
    var isLastConnection = false

    func isUp(_ number: Int) -> Bool { connection == number && isOpen && reason == nil }
  }

  let transport: any LinkTransport
  var hub: LinkHub { share.hub }
  private let share: LinkHub.Share
  private let filters: [String]
  let herald: Herald?
  private let fleets: [Fleet]
  private let subscriptions = Guarded<[EventBus.Subscription]>([])
  /// Waits until the fleets may judge what the broker has not announced.
  private let judging = Guarded<Task<Void, Never>?>(nil)
  private let state = Guarded(State())
  private let assigned = Guarded(0)

  /// The number of the link among those of its hub.
  var number: LinkMachine.LinkID { assigned.withLock { $0 } }

  /// Makes a link; it is not connected.
  ///
  /// - Parameters:
  ///   - application: the application.
  ///   - transport: carries the messages.
  ///   - options: how much the link keeps, and how long it waits. Those of the first link of a bus count for all its links.
  ///   - declare: declares the events that cross.
  /// - Throws: what `declare` throws.
  @MainActor public init(
    of application: Application, to transport: any LinkTransport, options: Options = Options(),
    _ declare: (inout Declarations) throws -> Void
  ) throws {
    var limits = LinkMachine.Limits()
    let most = 1_000_000_000
    (limits.waiting, limits.kept) = (min(max(options.waiting, 1), most), min(max(options.kept, 0), most))
    limits.patience = min(max(options.patience, .seconds(1)), .seconds(most))
    share = LinkHub.of(application, limits: limits)
    self.transport = transport
    let hub = share.hub
    var declarations = Declarations(hub)
    try declare(&declarations)
    filters = declarations.filters + [LinkMachine.requestTopic(of: hub.origin)]
    (herald, fleets) = (declarations.herald, declarations.fleets)
    let number = hub.add(self, carrying: declarations.topics, hearing: declarations.hearing)
    assigned.withLock { $0 = number }
    let following = [
      application.bus.subscribe(to: Application.StateDidChange.self, from: application, label: "EventLink") {
        [weak self] change in
        if change.transition.to.isInMemory { self?.announce() } else { self?.processDidEnd() }
      },
      application.bus.subscribe(to: Application.WillTerminate.self, from: application, label: "EventLink") {
        [weak self] _ in
        try self?.checkWhetherAllIsSent()
      },
    ]
    subscriptions.withLock { $0 = following }
  }

  deinit {
    judging.withLock { $0 }?.cancel()
    hub.remove(number)
  }

  /// Connects to the broker, and returns when all subscriptions are confirmed.
  ///
  /// - Throws: the error of the transport, ``LinkError/isOpen``, or ``LinkError/announcesAlready(as:)`` if another open link of
  ///   the bus announces the life cycle on the same topic.
  public func open() async throws {
    let connection = try hub.opening.withLock { _ in try beginConnection() }
    await MainActor.run { for fleet in fleets { fleet.linkWillOpen() } }
    do {
      // It may have been closed while the main actor was busy.
      guard isConnection(connection) else { throw LinkError.isNotOpen }
      try await transport.connect(will: try herald?.connects(hub)) { [hub, number] event in
        hub.take(.transport(event, number, connection: connection))
      }
      try await transport.subscribe(to: filters, quality: .atLeastOnce)
      // A simulated process may have ended meanwhile.
      guard isConnection(connection) else { throw LinkError.isNotOpen }
    } catch {
      // Not if the link was closed meanwhile, and opened again: the transport has another connection then.
      guard isLatest(connection) else { throw error }
      await transport.disconnect()
      if setClosed(connection) { hub.take(.closed(self, connection: connection)) }
      throw error
    }
    await announce()
    state.withLock { if $0.isUp(connection) { $0.isConnected = true } }
    hub.take(.connected(self, connection: connection))
    // The connection may have ended while the main actor was busy; that is told on the main actor, too.
    await MainActor.run { if isUp(connection) { for fleet in fleets { fleet.isCurrent = true } } }
    judgeFleets(connection)
  }

  /// Notes that the link is open, and returns the number of the connection; one link of the bus at a time calls it.
  private func beginConnection() throws(LinkError) -> Int {
    if let herald, hub.isAnnounced(on: herald.topic, besides: number) {
      throw LinkError.announcesAlready(as: herald.topic)
    }
    return try state.withLock { state throws(LinkError) in
      guard !state.isOpen else { throw LinkError.isOpen }
      (state.isOpen, state.isConnected) = (true, false)
      state.connection += 1
      (state.reason, state.hasOverflowed, state.isLastConnection) = (nil, false, false)
      return state.connection
    }
  }

  /// Announces the present state, or the last one before the connection ends.
  @MainActor private func announce(isLast: Bool = false) {
    // Not retained: the closures that the application keeps usually retain the link.
    guard let application = hub.shared.object as? Application else { return }
    herald?.announce(application, hub, isLast: isLast)
  }

  /// Returns when the task is cancelled, the phase closes, the link is closed, or an `open` that is under way fails; throws when
  /// the connection breaks.
  ///
  /// As the `run` of a managed resource it then has the link opened again, because `onReturn` is `.invalidate` by default; `unmanage`
  /// the resource to close the link for good.
  ///
  /// - Throws: ``LinkError/connectionEnded(reason:)`` or ``LinkError/isNotOpen``.
  public func run() async throws {
    let end = OneShot<Bool>()
    let connection = try state.withLock { state throws(LinkError) in
      guard state.isOpen else { throw LinkError.isNotOpen }
      if state.reason != nil { end.settle(true) } else { state.runs.append(end) }
      return state.connection
    }
    let hasBroken = await withPhaseClosingHandler {
      await withTaskCancellationHandler {
        await end.value
      } onCancel: {
        end.settle(false)
      }
    } onClose: {
      end.settle(false)
    }
    let reason = state.withLock { state in
      state.runs.removeAll { $0 === end }
      return hasBroken && state.connection == connection ? state.reason : nil
    }
    if let reason { throw LinkError.connectionEnded(reason: reason) }
  }

  /// Sends what waits, and ends the connection in order; does nothing if the link is not open.
  ///
  /// It waits until the broker has what was posted before. Cancelling the task ends that wait: what has not been sent waits for the
  /// next connection.
  public func close() async {
    let hasSentAll = OneShot<Bool>()
    let present: (connection: Int, isUp: Bool)? = state.withLock { state in
      guard state.isOpen else { return nil }
      if state.reason == nil { state.closes.append((state.connection, hasSentAll)) }
      return (state.connection, state.reason == nil)
    }
    guard let (connection, isUp) = present else { return }
    if isUp {
      await announce(isLast: true)
      hub.take(.finish(self, connection: connection))
      let isSent = await withTaskCancellationHandler {
        await hasSentAll.value
      } onCancel: {
        hasSentAll.settle(false)
      }
      state.withLock { state in state.closes.removeAll { $0.end === hasSentAll } }
      // Another call may have closed the link meanwhile, and the link may have been opened again.
      guard isConnection(connection) else { return }
      // An end in order has no will, so the last announcement must not be left behind.
      if !isSent, let message = herald?.lastMessage(from: hub.origin) { transport.publish(message, number: .max) }
    }
    hub.stopSending(by: number, connection)
    // Before the transport may report the end.
    endRuns(of: connection)
    await transport.disconnect()
    guard setClosed(connection) else { return }
    hub.take(.closed(self, connection: connection))
    await tellFleetsOfEnd(of: connection)
    guard state.withLock({ $0.isLastConnection }), case let count = waitingCount, count > 0 else { return }
    hub.bus.report(
      EventBus.HandlerFailure(
        subscriber: .init(label: "EventLink"), eventName: Application.WillTerminate.name,
        error: LinkError.notSent(count: count)))
  }

  /// Notes that a connection is over; returns false if it was, or there is a later one.
  private func setClosed(_ connection: Int) -> Bool {
    let wasOpen = state.withLock { state in
      guard state.connection == connection, state.isOpen else { return false }
      // Before the link can be opened again: the next connection has a birth of its own.
      herald?.connectionDidEnd()
      state.isOpen = false
      return true
    }
    if wasOpen { endRuns(of: connection) }
    return wasOpen
  }

  /// Lets the calls of `run` return, if there is no later connection.
  private func endRuns(of connection: Int) {
    let runs = state.withLock { state -> [OneShot<Bool>] in
      guard state.connection == connection else { return [] }
      defer { state.runs = [] }
      return state.runs
    }
    for run in runs { run.settle(false) }
  }

  /// The number of events that wait for a connection, or for the broker's acknowledgement; those of sticky types aside.
  ///
  /// Any thread; linear in their number.
  public var waitingCount: Int { hub.waitingCount(of: number) }

  /// Throws if the application ends while events wait for a connection; a link that is up sends them as it is closed.
  private func checkWhetherAllIsSent() throws(LinkError) {
    let isUp = state.withLock { state in
      state.isLastConnection = state.isOpen && state.isConnected && state.reason == nil
      return state.isLastConnection
    }
    if !isUp, case let count = waitingCount, count > 0 { throw .notSent(count: count) }
  }

  /// Removes the latest event of a sticky type from the bus, and from the broker for all.
  ///
  /// - Parameter type: the events; they are sent on one of the link's topics.
  public func removeLatest<E: BusEvent & StickyEvent>(of type: E.Type) { hub.removeLatest(of: type) }

  /// Removes the latest event of a sticky type from the bus, and from the broker for all.
  ///
  /// - Parameter type: the events; they are sent on one of the link's topics.
  @MainActor public func removeLatest<E: MainActorEvent & StickyEvent>(of type: E.Type) { hub.removeLatest(of: type) }

  /// Leaves the connection of a simulated process that has ended, so that the broker notices it.
  private func processDidEnd() {
    let (connection, waiting): (Int?, [OneShot<Bool>]) = state.withLock { state in
      herald?.connectionDidEnd()
      defer { (state.isOpen, state.runs, state.closes) = (false, [], []) }
      return (state.isOpen ? state.connection : nil, state.runs + state.closes.map(\.end))
    }
    for wait in waiting { wait.settle(false) }
    guard let connection else { return }
    (transport as? any VanishingTransport)?.vanish()
    hub.take(.closed(self, connection: connection))
  }

  @MainActor private func tellFleetsOfEnd(of connection: Int) {
    // The main actor may have been busy until the link was opened again.
    guard isLatest(connection) else { return }
    judging.withLock { $0.take() }?.cancel()
    for fleet in fleets { fleet.isCurrent = false }
  }

  /// Lets the fleets judge, after a while, what the broker has not announced on a connection.
  private func judgeFleets(_ connection: Int) {
    guard !fleets.isEmpty else { return }
    let end = hub.clock.now.advanced(by: Fleet.patience)
    let task = hub.tasks.start(seeing: hub.shared) { @MainActor [weak self, clock = hub.clock] in
      guard (try? await clock.sleep(until: end)) != nil, let self, isUp(connection) else { return }
      for fleet in fleets { fleet.linkHasBeenOpen(hub.bus) }
    }
    judging.withLock { $0 = task }
  }

  // MARK: For the hub

  /// Why the hub ends a connection itself; the transport knows no reason then.
  static let overflow = "messages arrive faster than they are posted"

  var isOpen: Bool { state.withLock { $0.isOpen } }

  func isConnection(_ number: Int) -> Bool { state.withLock { $0.connection == number && $0.isOpen } }

  /// Whether a connection lasts.
  func isUp(_ number: Int) -> Bool { state.withLock { $0.isUp(number) } }

  private func isLatest(_ number: Int) -> Bool { state.withLock { $0.connection == number } }

  /// Notes that a connection brings more than can be posted; returns whether it is the first time.
  func mayOverflow(_ number: Int) -> Bool {
    state.withLock { state in
      guard state.connection == number, !state.hasOverflowed else { return false }
      state.hasOverflowed = true
      return true
    }
  }

  func connectionDidEnd(_ connection: Int, because reason: String) async {
    let waiting = state.withLock { state -> (runs: [OneShot<Bool>], closes: [OneShot<Bool>])? in
      guard state.connection == connection, state.reason == nil else { return nil }
      state.reason = state.hasOverflowed ? Self.overflow : reason
      defer { (state.runs, state.closes) = ([], []) }
      return (state.runs, state.closes.map(\.end))
    }
    guard let waiting else { return }
    for run in waiting.runs { run.settle(true) }
    for close in waiting.closes { close.settle(false) }
    await tellFleetsOfEnd(of: connection)
  }

  func hasSentAll(on connection: Int) {
    for close in state.withLock({ $0.closes }) where close.connection == connection { close.end.settle(true) }
  }
}
