#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif
internal import PubSub

/// The buses that an event has passed on its way through notification centers.
///
/// It travels in `userInfo`, so that no bus receives its own event from a center, along whatever bridges it came back.
final class Route: Sendable {
  /// Its key in `userInfo`.
  static let key = "NotificationCenterBridge.route"

  private let buses: [ObjectIdentifier]

  init(_ bus: EventBus) { buses = [ObjectIdentifier(bus)] }

  private init(_ buses: [ObjectIdentifier]) { self.buses = buses }

  func contains(_ bus: EventBus) -> Bool { buses.contains(ObjectIdentifier(bus)) }

  /// This route, and then a bus.
  func extended(by bus: EventBus) -> Route { Route(buses + [ObjectIdentifier(bus)]) }
}

/// A post on a bus that was made of a notification, while it is under way on this thread.
///
/// Known by how deep it is nested: what its handlers post is new, and is deeper.
struct Passage {
  private let bus: ObjectIdentifier
  private let center: ObjectIdentifier
  private let depth: Int
  private let route: Route?
  private let outer: UnsafeRawPointer?

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    guard pthread_key_create(&key, nil) == 0 else { preconditionFailure("no thread-specific memory is left") }
    return key
  }()

  /// Runs a post that is made of a notification.
  ///
  /// - Parameters:
  ///   - bus: where it is posted.
  ///   - center: where the notification was posted.
  ///   - route: the buses that the event has passed; nil for none.
  ///   - post: posts it.
  static func through(
    _ bus: EventBus, from center: NotificationCenterReference, _ route: Route?, _ post: () -> Void
  ) {
    let outer = pthread_getspecific(key)
    let passage = Passage(
      bus: ObjectIdentifier(bus), center: center.identifier, depth: EventBus.depthOfPosts + 1, route: route,
      outer: UnsafeRawPointer(outer))
    withUnsafePointer(to: passage) { pointer in
      pthread_setspecific(key, pointer)
      post()
      pthread_setspecific(key, outer)
    }
  }

  /// The passage by which the innermost post on this thread came to a bus; nil if it began there.
  static func present(on bus: EventBus) -> Passage? {
    guard let memory = pthread_getspecific(key) else { return nil }
    let innermost = memory.assumingMemoryBound(to: Passage.self).pointee
    return innermost.depth == EventBus.depthOfPosts && innermost.bus == ObjectIdentifier(bus) ? innermost : nil
  }

  func came(from center: NotificationCenterReference) -> Bool { self.center == center.identifier }

  /// The route of the notification that is made of the event on this bus.
  func route(through bus: EventBus) -> Route? { route?.extended(by: bus) }
}
