import LibC
import PubSub
import Synchronization

/// The post of an event that came over a link, while it is under way.
///
/// It is identified by its nesting depth: posts of its handlers are new events, and are nested deeper.
final class LinkPassage: @unchecked Sendable {
  // A thread's identity is not Sendable on every system, and never changes here.
  @TaskLocal private static var present: LinkPassage?

  private let bus: ObjectIdentifier
  /// The post stays on its thread; a task that a handler starts inherits the task-local value.
  private let thread = pthread_self()
  private let depth = EventBus.depthOfPosts + 1
  private let isOver = Atomic(false)

  private init(on bus: EventBus) { self.bus = ObjectIdentifier(bus) }

  /// Posts an event that came over a link; the caller of a main-actor event is on the main actor.
  ///
  /// Returns the number of the change of the bus's latest event, 0 for a type that is not sticky.
  static func post<E: EventBus.Event>(_ event: E, on bus: EventBus) -> Int {
    let passage = LinkPassage(on: bus)
    return $present.withValue(passage) {
      // Objects that are released after the handlers may post; these posts are new events.
      bus.post(event, from: nil) { passage.isOver.store(true, ordering: .releasing) }
    }
  }

  /// Whether the innermost post on this thread is of an event that came over a link of this bus.
  static func isUnderWay(on bus: EventBus) -> Bool {
    guard let present, !present.isOver.load(ordering: .acquiring) else { return false }
    guard pthread_equal(present.thread, pthread_self()) != 0 else { return false }
    return present.bus == ObjectIdentifier(bus) && present.depth == EventBus.depthOfPosts
  }
}
