internal import AppLifecycle
public import Foundation
public import PubSub

/// A bridge between an event bus and a classic notification center: it posts events as notifications, and notifications
/// as events.
///
/// So a program can move to the bus one component at a time. Old observers and new handlers receive the same events:
///
///     let bridge = NotificationCenterBridge(application.bus)
///     let orders = bridge.exchange(OrderPlaced.self)  // both ways
///     let lifecycle = bridge.postLifecycle()  // as UIApplicationWillEnterForegroundNotification, …
///     let failures = application.bus.subscribe(to: NotificationBridgeFailure.self) {
///       print($0)
///     }
///
/// Make one link for each event type: a second link passes its events a second time. The article *Coming from
/// NotificationCenter* shows how to move a whole program.
///
/// The bridge works inside the post, on the poster's thread. An event is posted as a notification before later handlers
/// of the bus are called. A notification is posted as an event before its post returns; a center fixes no order between
/// the bridge and other observers. An event or a notification does not return to a bus or a center that it has passed,
/// through any number of bridges. Posts that handlers and observers make in the meantime are new, and pass. For this
/// purpose `userInfo` has an entry of the bridge, with the key `NotificationCenterBridge.route`.
///
/// The bridge uses notifications, not Foundation's typed messages. Off Apple's platforms messages have no public
/// conversion to notifications, and posting a message while there is an observer of every name ends the process.
public final class NotificationCenterBridge: Sendable {
  /// The bus of the bridge.
  public let bus: EventBus
  private let center: NotificationCenterReference

  /// The notification center of the bridge.
  public var notificationCenter: NotificationCenter { center.center }

  /// Makes a bridge, which passes nothing yet.
  ///
  /// - Parameters:
  ///   - bus: the bus.
  ///   - center: the notification center.
  public init(_ bus: EventBus, to center: NotificationCenter = .default) {
    self.bus = bus
    self.center = NotificationCenterReference(center: center)
  }

  /// Returns a new link, after a closure has given it what it keeps.
  func link(_ fill: (NotificationLink) -> Void) -> NotificationLink {
    let link = NotificationLink(center)
    fill(link)
    return link
  }
}

// MARK: - To the center

extension NotificationCenterBridge {
  /// Posts the events of a type as notifications, on the thread of each post.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - priority: the priority of the bridge among the handlers of the bus.
  /// - Returns: the link, which lasts while it is kept.
  public func post<E: NotificationConvertible>(
    _ type: E.Type, priority: EventBus.Priority = .normal
  ) -> NotificationLink {
    link { link in post(type, priority, link) { $0 } }
  }

  /// Posts events of a type as the notifications of the events to which they are converted.
  func post<E: EventBus.Event, Posted: NotificationConvertible>(
    _: E.Type, _ priority: EventBus.Priority, _ link: NotificationLink, as convert: @escaping @Sendable (E) -> Posted
  ) {
    let passer = Passer(center, bus)
    link.keep(
      bus.subscribe(toEither: E.self, priority: priority, label: "NotificationCenterBridge") { event in
        passer.pass(convert(event), from: EventBus.subjectOfPost)
      })
  }
}

/// Posts events as notifications.
private final class Passer: Sendable {
  private let center: NotificationCenterReference
  /// The identity of the bus, which keeps this object; this object does not keep the bus.
  private let bus: ObjectIdentifier
  /// The route of an event that begins on the bus: the bus itself.
  private let start: [ObjectIdentifier]

  init(_ center: NotificationCenterReference, _ bus: EventBus) {
    (self.center, self.bus) = (center, ObjectIdentifier(bus))
    start = [self.bus]
  }

  func pass<E: NotificationConvertible>(_ event: E, from subject: (any AnyObject & Sendable)?) {
    var passed = start
    if let passage = Passage.present(on: bus) {
      if passage.passed.contains(center.identifier) { return }
      passed = passage.passed + start
    }
    let object = event.notificationObject ?? subject
    let route = Route(of: E.notificationName, from: object, passed)
    var userInfo = event.notificationInfo.userInfo
    userInfo[Route.key] = route
    #if canImport(ObjectiveC)
      center.center.post(name: E.notificationName, object: object, userInfo: userInfo)
    #else
      PostWatch.watch(E.notificationName) {
        center.center.post(name: E.notificationName, object: object, userInfo: userInfo)
      }
    #endif
    route.end()
  }
}

// MARK: - To the bus

extension NotificationCenterBridge {
  /// Posts notifications as the events of a type, on the thread of each post.
  ///
  /// If a notification cannot be converted, the bridge posts a ``NotificationBridgeFailure``.
  ///
  /// If a notification of a main-actor event is posted off the main thread, the bridge posts a ``NotificationBridgeFailure``, too.
  /// Its event is posted as soon as the main actor is free, after the events that already wait for it. If the link is released
  /// before that, the event is lost.
  ///
  /// An object may post such a notification in its deinitializer. Then the event that follows has no subject. If its
  /// ``NotificationConvertible/notificationObject`` is that object, no event follows. On Apple's systems, instances of
  /// `NSObject` must not post off the main thread in their deinitializers.
  ///
  /// - Parameter type: the events.
  /// - Returns: the link, which lasts while it is kept.
  public func receive<E: NotificationConvertible>(_ type: E.Type) -> NotificationLink { link { receive(type, $0) } }

  func receive<E: NotificationConvertible>(_: E.Type, _ link: NotificationLink) {
    guard E.self is any MainActorEvent.Type else {
      return observe(E.self, link) { Passage.post($0, from: $1, on: $2, having: $3) }
    }
    @Sendable func post(
      _ event: E, _ subject: (any AnyObject & Sendable)?, _ bus: EventBus, _ passed: [ObjectIdentifier]
    ) {
      let session = MainActor.assumeIsolated { (event as? any SceneEvent)?.scene.session }
      Passage.post(event, from: subject, within: session, on: bus, having: passed)
    }
    observe(E.self, link) { [weak link] event, subject, bus, passed in
      if MainQueue.isMainActors { return post(event, subject, bus, passed) }
      let kept = subject.flatMap(ifAlive)
      // The event, too, keeps the object that it names.
      let canFollow = kept != nil || event.notificationObject == nil
      bus.post(
        NotificationBridgeFailure(
          notificationName: E.notificationName, eventName: E.name,
          reason: canFollow ? .notOnMainThread : .objectIsGone))
      guard canFollow else { return }
      DispatchQueue.main.async { [weak link] in
        if link?.isCancelled == false { post(event, kept, bus, passed) }
      }
    }
  }

  private func observe<E: NotificationConvertible>(
    _: E.Type, _ link: NotificationLink,
    _ post: @escaping @Sendable (E, (any AnyObject & Sendable)?, EventBus, [ObjectIdentifier]) -> Void
  ) {
    // The center keeps the block, which must not keep the bus. Foundation's method takes an optional name: the link, and not
    // a process, decides how long the observer lasts.
    link.keep(
      center.center.addObserver(forName: Optional(E.notificationName), object: nil, queue: nil) {
        [weak bus, identifier = ObjectIdentifier(bus), center] notification in
        let passed = (notification.userInfo?[Route.key] as? Route)?.places(of: notification) ?? []
        guard !passed.contains(identifier), let bus else { return }
        let event: E
        do {
          event = try E(notification)
        } catch {
          return bus.post(
            NotificationBridgeFailure(
              notificationName: notification.name, eventName: E.name, reason: .notConvertible(error)))
        }
        post(event, event.notificationObject ?? notification.subject, bus, passed + [center.identifier])
      })
  }
}

/// Returns the object, or nil if it is being deinitialized: then a reference that outlives the post ends the process.
@inline(never) private func ifAlive(_ object: any AnyObject & Sendable) -> (any AnyObject & Sendable)? {
  #if canImport(ObjectiveC)
    // The Objective-C runtime ends the process at a weak reference to such an object.
    if object is NSObject { return object }
  #endif
  weak let alive = object
  return alive
}

extension Notification {
  /// The object, as the subject of an event; nil if it is not an instance of a class.
  fileprivate var subject: (any AnyObject & Sendable)? {
    guard let object, type(of: object) is any AnyObject.Type else { return nil }
    // The poster passes the object to every observer, on any thread. The bus only compares the subject and passes it
    // on.
    return unsafeBitCast(object as AnyObject, to: (any AnyObject & Sendable).self)
  }
}

// MARK: - Both ways

extension NotificationCenterBridge {
  /// Posts the events of a type as notifications, and notifications of their name as events.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - priority: the priority of the bridge among the handlers of the bus.
  /// - Returns: the link, which lasts while it is kept.
  public func exchange<E: NotificationConvertible>(
    _ type: E.Type, priority: EventBus.Priority = .normal
  ) -> NotificationLink {
    link { link in
      post(type, priority, link) { $0 }
      receive(type, link)
    }
  }
}
