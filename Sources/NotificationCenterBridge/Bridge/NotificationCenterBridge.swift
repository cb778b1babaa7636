public import Foundation
public import PubSub

/// Connects an event bus with a classic notification center: events become notifications, notifications become events.
///
/// So a program comes over to the bus one component at a time, and old observers and new handlers see the same:
///
///     let bridge = NotificationCenterBridge(application.bus)
///     let orders = bridge.exchange(OrderPlaced.self)      // both ways
///     let lifecycle = bridge.postLifecycle()              // UIApplicationWillEnterForegroundNotification and all others
///     let failures = application.bus.subscribe(to: NotificationBridgeFailure.self) { print($0) }
///
/// One link for each event type: a second one passes its events a second time. the article *Coming from NotificationCenter* leads through a whole program.
///
/// Everything happens inside the post, on the poster's thread, so the order is kept: an event is a notification before the bus's
/// later handlers are called, and a notification is an event before the center's later observers are. What came from a center does not
/// go back there, and what came from a bus does not come back to it, along however many bridges; what handlers and observers post
/// meanwhile is new, and does pass. For that, `userInfo` has an entry of the bridge's own, with the key `NotificationCenterBridge.route`.
///
/// It uses notifications, not Foundation's messages. Off Apple's platforms these have no public conversion to notifications, and a
/// message that is posted while an observer of every name stands ends the process.
public final class NotificationCenterBridge: Sendable {
  /// Where events are posted.
  public let bus: EventBus
  private let center: NotificationCenterReference

  /// Where notifications are posted.
  public var notificationCenter: NotificationCenter { center.center }

  /// A bridge, which passes nothing yet.
  ///
  /// - Parameters:
  ///   - bus: where events are posted.
  ///   - center: where notifications are posted.
  public init(_ bus: EventBus, to center: NotificationCenter = .default) {
    self.bus = bus
    self.center = NotificationCenterReference(center: center)
  }

  func newLink() -> NotificationLink { NotificationLink(center) }
}

// MARK: - To the center

extension NotificationCenterBridge {
  /// Posts the events of a type as notifications, on the thread of each post.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - priority: when, among the handlers of the bus.
  /// - Returns: the link, which lasts while it is kept.
  public func post<E: NotificationConvertible & Event>(
    _ type: E.Type, priority: Priority = .normal
  ) -> NotificationLink {
    let link = newLink()
    post(type, priority, link)
    return link
  }

  /// Posts the main-actor events of a type as notifications, on the main thread.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - priority: when, among the handlers of the bus.
  /// - Returns: the link, which lasts while it is kept.
  public func post<E: NotificationConvertible & MainActorEvent>(
    _ type: E.Type, priority: Priority = .normal
  ) -> NotificationLink {
    let link = newLink()
    post(type, priority, link)
    return link
  }

  private func post<E: NotificationConvertible & Event>(_: E.Type, _ priority: Priority, _ link: NotificationLink) {
    let passer = Passer(center, bus)
    link.keep(
      bus.subscribe(to: E.self, priority: priority, label: "NotificationCenterBridge") { event, subject in
        passer.pass(event, from: subject)
      })
  }

  func post<E: NotificationConvertible & MainActorEvent>(_: E.Type, _ priority: Priority, _ link: NotificationLink) {
    let passer = Passer(center, bus)
    link.keep(
      bus.subscribe(to: E.self, priority: priority, label: "NotificationCenterBridge") { event, subject in
        passer.pass(event, from: subject)
      })
  }
}

/// Posts events as notifications.
private final class Passer: Sendable {
  private let center: NotificationCenterReference
  /// Whose events they are; the bus keeps this object, and is not kept by it.
  private let bus: ObjectIdentifier
  /// What an event has passed that begins on the bus.
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
    center.center.post(name: E.notificationName, object: object, userInfo: userInfo)
    route.end()
  }
}

// MARK: - To the bus

extension NotificationCenterBridge {
  /// Posts notifications as the events of a type, on the thread of each post.
  ///
  /// A notification of which no event can be made is reported by a ``NotificationBridgeFailure``.
  ///
  /// - Parameter type: the events.
  /// - Returns: the link, which lasts while it is kept.
  public func receive<E: NotificationConvertible & Event>(_ type: E.Type) -> NotificationLink {
    let link = newLink()
    receive(type, link)
    return link
  }

  /// Posts notifications as the main-actor events of a type.
  ///
  /// A notification that is posted off the main thread is reported by a ``NotificationBridgeFailure``, and its event is posted as soon as
  /// the main actor is free, behind those that wait for that.
  ///
  /// - Parameter type: the events.
  /// - Returns: the link, which lasts while it is kept.
  public func receive<E: NotificationConvertible & MainActorEvent>(_ type: E.Type) -> NotificationLink {
    let link = newLink()
    receive(type, link)
    return link
  }

  private func receive<E: NotificationConvertible & Event>(_: E.Type, _ link: NotificationLink) {
    observe(E.self, link) { Passage.post($0, from: $1, on: $2, having: $3) }
  }

  func receive<E: NotificationConvertible & MainActorEvent>(_: E.Type, _ link: NotificationLink) {
    observe(E.self, link) { [weak link] event, subject, bus, passed in
      if MainQueue.isCurrent {
        Passage.post(event, from: subject, on: bus, having: passed)
      } else {
        bus.post(
          NotificationBridgeFailure(
            notificationName: E.notificationName, eventName: E.name, reason: .notOnMainThread))
        DispatchQueue.main.async { [weak link] in
          if link?.isCancelled == false { Passage.post(event, from: subject, on: bus, having: passed) }
        }
      }
    }
  }

  private func observe<E: NotificationConvertible>(
    _: E.Type, _ link: NotificationLink,
    _ post: @escaping @Sendable (E, (any AnyObject & Sendable)?, EventBus, [ObjectIdentifier]) -> Void
  ) {
    // Weak: the center keeps the block, and does not keep the bus.
    link.keep(
      center.center.addObserver(forName: E.notificationName, object: nil, queue: nil) {
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

extension Notification {
  /// The object, as the subject of an event; nil if it is no instance of a class.
  fileprivate var subject: (any AnyObject & Sendable)? {
    guard let object, type(of: object) is any AnyObject.Type else { return nil }
    // The poster has handed it to every observer, on whichever thread; a subject is compared, and passed on.
    return unsafeBitCast(object as AnyObject, to: (any AnyObject & Sendable).self)
  }
}

// MARK: - Both ways

extension NotificationCenterBridge {
  /// Posts the events of a type as notifications, and notifications of their name as events.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - priority: when events become notifications, among the handlers of the bus.
  /// - Returns: the link, which lasts while it is kept.
  public func exchange<E: NotificationConvertible & Event>(
    _ type: E.Type, priority: Priority = .normal
  ) -> NotificationLink {
    let link = newLink()
    post(type, priority, link)
    receive(type, link)
    return link
  }

  /// Posts the main-actor events of a type as notifications, and notifications of their name as events.
  ///
  /// - Parameters:
  ///   - type: the events.
  ///   - priority: when events become notifications, among the handlers of the bus.
  /// - Returns: the link, which lasts while it is kept.
  public func exchange<E: NotificationConvertible & MainActorEvent>(
    _ type: E.Type, priority: Priority = .normal
  ) -> NotificationLink {
    let link = newLink()
    post(type, priority, link)
    receive(type, link)
    return link
  }
}
