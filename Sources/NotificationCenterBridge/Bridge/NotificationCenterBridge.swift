public import Foundation
public import PubSub

/// Connects an event bus with a classic notification center: events become notifications, notifications become events.
///
/// So a program comes over to the bus one component at a time, and old observers and new handlers see the same:
///
///     let bridge = NotificationCenterBridge(application.bus)
///     let orders = bridge.exchange(OrderPlaced.self)      // both ways
///     let lifecycle = bridge.postLifecycle()              // UIApplicationWillEnterForegroundNotification and all others
///
/// Everything happens inside the post, on the poster's thread, so the order is kept: an event is a notification before the bus's
/// later handlers are called, and a notification is an event before the center's later observers are. What came from a center does not
/// go back there, and what came from a bus does not come back to it, along however many bridges; what handlers and observers post
/// meanwhile is new, and does pass.
///
/// It uses notifications, not Foundation's messages. Off Apple's platforms these have no public conversion to notifications, and a
/// message that is posted while an observer of every name stands ends the process.
public final class NotificationCenterBridge: Sendable {
  /// Where events are posted.
  public let bus: EventBus
  private let center: NotificationCenterReference
  /// That of events which begin on the bus.
  private let route: Route

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
    route = Route(bus)
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
    // The bus keeps the handler, and must not be kept by it.
    let passer = Passer(center, route, bus)
    link.keep(
      bus.subscribe(to: E.self, priority: priority, label: "NotificationCenterBridge") { event, subject in
        passer.pass(event, from: subject)
      })
  }

  func post<E: NotificationConvertible & MainActorEvent>(_: E.Type, _ priority: Priority, _ link: NotificationLink) {
    let passer = Passer(center, route, bus)
    link.keep(
      bus.subscribe(to: E.self, priority: priority, label: "NotificationCenterBridge") { event, subject in
        passer.pass(event, from: subject)
      })
  }
}

/// Posts events as notifications.
private final class Passer: Sendable {
  private let center: NotificationCenterReference
  private let route: Route
  private weak let bus: EventBus?

  init(_ center: NotificationCenterReference, _ route: Route, _ bus: EventBus) {
    (self.center, self.route, self.bus) = (center, route, bus)
  }

  func pass<E: NotificationConvertible>(_ event: E, from subject: (any AnyObject & Sendable)?) {
    guard let bus else { return }
    var route = route
    if let passage = Passage.present(on: bus) {
      if passage.came(from: center) { return }
      route = passage.route(through: bus) ?? route
    }
    var userInfo: [AnyHashable: Any] = event.notificationInfo.userInfo
    userInfo[Route.key] = route
    center.center.post(name: E.notificationName, object: event.notificationObject ?? subject, userInfo: userInfo)
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
    observe(E.self, link) { bus, center, event, route, _ in
      Passage.through(bus, from: center, route) { bus.post(event, from: event.notificationObject) }
    }
  }

  func receive<E: NotificationConvertible & MainActorEvent>(_: E.Type, _ link: NotificationLink) {
    observe(E.self, link) { bus, center, event, route, name in
      if MainQueue.isCurrent {
        MainActor.assumeIsolated {
          Passage.through(bus, from: center, route) { bus.post(event, from: event.notificationObject) }
        }
      } else {
        bus.post(NotificationBridgeFailure(notificationName: name, eventName: E.name, reason: .notOnMainThread))
        DispatchQueue.main.async {
          Passage.through(bus, from: center, route) { bus.post(event, from: event.notificationObject) }
        }
      }
    }
  }

  private func observe<E: NotificationConvertible>(
    _: E.Type, _ link: NotificationLink,
    _ post: @escaping @Sendable (EventBus, NotificationCenterReference, E, Route?, Notification.Name) -> Void
  ) {
    // Weak: the center keeps the block, and does not keep the bus.
    link.keep(
      center.center.addObserver(forName: E.notificationName, object: nil, queue: nil) {
        [weak bus, center] notification in
        guard let bus else { return }
        let route = notification.userInfo?[Route.key] as? Route
        if let route, route.contains(bus) { return }
        let event: E
        do {
          event = try E(notification)
        } catch {
          return bus.post(
            NotificationBridgeFailure(
              notificationName: notification.name, eventName: E.name, reason: .notConvertible(error)))
        }
        post(bus, center, event, route, notification.name)
      })
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
