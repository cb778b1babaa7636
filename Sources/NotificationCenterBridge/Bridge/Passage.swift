import Foundation
import LibC
internal import PubSub
import Synchronization

/// The buses and centers that an event has passed, carried by a notification that a bridge posts.
///
/// It is stored in `userInfo`, so that no event returns to a bus or a center that it has passed, through any number of
/// bridges. Observers may use the same `userInfo` for notifications of their own, during the post or later. So a route
/// is valid only for the notification for which it was made: with that name and that object, while it is being posted.
final class Route: Sendable {
  /// The key of the route in `userInfo`.
  ///
  /// `AnyHashable` is not `Sendable`, but this constant never changes.
  nonisolated(unsafe) static let key = AnyHashable("NotificationCenterBridge.route")

  private let name: Notification.Name
  private let object: ObjectIdentifier?
  private let passed: [ObjectIdentifier]
  private let isOver = Atomic(false)

  init(of name: Notification.Name, from object: AnyObject?, _ passed: [ObjectIdentifier]) {
    (self.name, self.object, self.passed) = (name, object.map { ObjectIdentifier($0) }, passed)
  }

  /// Returns what the notification has passed, if the route was made for it and it is being posted; else an empty
  /// array.
  func places(of notification: Notification) -> [ObjectIdentifier] {
    if notification.name != name || isOver.load(ordering: .acquiring) { return [] }
    return notification.object.map { ObjectIdentifier($0 as AnyObject) } == object ? passed : []
  }

  /// Ends the route after the notification has been posted.
  func end() { isOver.store(true, ordering: .releasing) }
}

/// A post of an event that was made from a notification, while the post is under way on this thread.
///
/// It is identified by its nesting depth: posts of its handlers are new events, and are nested deeper.
struct Passage {
  /// The buses and centers that the event has passed, including the center from which it came.
  let passed: [ObjectIdentifier]
  private let bus: ObjectIdentifier
  private let depth: Int

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    guard pthread_key_create(&key, nil) == 0 else { preconditionFailure("no key for thread-specific data is left") }
    return key
  }()

  /// Posts an event that was made from a notification.
  ///
  /// - Parameters:
  ///   - event: the event; the caller of a main-actor event is on the main actor.
  ///   - subject: the object that the event is about.
  ///   - wider: an object to which the subject belongs, whose subscribers receive the event too.
  ///   - bus: the bus.
  ///   - passed: the buses and centers that the event has passed, including the center on which the notification was
  ///     posted.
  static func post<E: EventBus.Event>(
    _ event: E, from subject: (any AnyObject & Sendable)?, within wider: (any AnyObject & Sendable)? = nil,
    on bus: EventBus, having passed: [ObjectIdentifier]
  ) {
    let outer = pthread_getspecific(key)
    let passage = Passage(passed: passed, bus: ObjectIdentifier(bus), depth: EventBus.depthOfPosts + 1)
    withUnsafePointer(to: passage) { pointer in
      pthread_setspecific(key, pointer)
      // Objects that are released after the handlers may post; these posts are new events.
      bus.post(event, from: subject, within: wider) { pthread_setspecific(key, outer) }
      // If the bus refused the post, it did not call the closure.
      pthread_setspecific(key, outer)
    }
  }

  /// Returns the passage of the innermost post on this thread, if that is on this bus; nil if that post did not come
  /// from a notification.
  static func present(on bus: ObjectIdentifier) -> Passage? {
    guard let memory = pthread_getspecific(key) else { return nil }
    let innermost = memory.assumingMemoryBound(to: Passage.self).pointee
    return innermost.depth == EventBus.depthOfPosts && innermost.bus == bus ? innermost : nil
  }
}
