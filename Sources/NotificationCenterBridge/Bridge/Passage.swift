#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif
import Foundation
internal import PubSub
import Synchronization

/// The buses and centers that an event has passed, on its way through one more center.
///
/// It travels in `userInfo`, so that nothing returns to where it has been, along whatever bridges. Observers may give the same
/// `userInfo` to notifications of their own, then or later. So a route counts for the notification alone for which it was made: of that
/// name, from that object, while it is being posted.
final class Route: Sendable {
  /// Its key in `userInfo`.
  ///
  /// Never written, though `AnyHashable` is not declared to be sendable.
  nonisolated(unsafe) static let key = AnyHashable("NotificationCenterBridge.route")

  private let name: Notification.Name
  private let object: ObjectIdentifier?
  private let passed: [ObjectIdentifier]
  private let isOver = Atomic(false)

  init(of name: Notification.Name, from object: AnyObject?, _ passed: [ObjectIdentifier]) {
    (self.name, self.object, self.passed) = (name, object.map { ObjectIdentifier($0) }, passed)
  }

  /// What the notification has passed, if it is the one for which this was made, and is being posted.
  func places(of notification: Notification) -> [ObjectIdentifier] {
    if notification.name != name || isOver.load(ordering: .acquiring) { return [] }
    return notification.object.map { ObjectIdentifier($0 as AnyObject) } == object ? passed : []
  }

  /// The notification has been posted.
  func end() { isOver.store(true, ordering: .releasing) }
}

/// A post on a bus that was made of a notification, while it is under way on this thread.
///
/// Known by how deep it is nested: what its handlers post is new, and is deeper.
struct Passage {
  /// The buses and centers that the event has passed, with the center from which it came.
  let passed: [ObjectIdentifier]
  private let bus: ObjectIdentifier
  private let depth: Int

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    guard pthread_key_create(&key, nil) == 0 else { preconditionFailure("no thread-specific memory is left") }
    return key
  }()

  /// Posts an event that is made of a notification.
  ///
  /// - Parameters:
  ///   - event: the event; one for the main actor is posted there.
  ///   - subject: what it happened to.
  ///   - bus: where it is posted.
  ///   - passed: the buses and centers that the event has passed, with the center where the notification was posted.
  static func post<E: BusEvent>(
    _ event: E, from subject: (any AnyObject & Sendable)?, on bus: EventBus, having passed: [ObjectIdentifier]
  ) {
    let outer = pthread_getspecific(key)
    let passage = Passage(passed: passed, bus: ObjectIdentifier(bus), depth: EventBus.depthOfPosts + 1)
    withUnsafePointer(to: passage) { pointer in
      pthread_setspecific(key, pointer)
      // What is released after the post may post: that is new.
      bus.post(event, from: subject) { pthread_setspecific(key, outer) }
      // Where the bus has refused the post, it was not over.
      pthread_setspecific(key, outer)
    }
  }

  /// The passage by which the innermost post on this thread came to a bus; nil if it began there.
  static func present(on bus: ObjectIdentifier) -> Passage? {
    guard let memory = pthread_getspecific(key) else { return nil }
    let innermost = memory.assumingMemoryBound(to: Passage.self).pointee
    return innermost.depth == EventBus.depthOfPosts && innermost.bus == bus ? innermost : nil
  }
}
