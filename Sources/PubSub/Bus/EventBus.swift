internal import CPubSub

/// Delivers events from posters to subscribers, in order, without either knowing the other.
///
/// A post reaches its subscribers in order of priority (highest first), and within a priority in the order of subscription.
/// Wildcard, by-name, subject-filtered and plain subscribers stand in this one order. Event types with the trait
/// ``EventTraits/reversed`` are delivered in the mirror image of it. A post made inside a handler is delivered at once, depth
/// first.
///
/// Every call is allowed from any thread and inside a handler. No synchronous call can deadlock: no lock is held while a
/// handler runs, and a post takes none. A bus that is released ends its subscriptions and its event sequences.
public final class EventBus: Sendable {
  let core: BusCore
  /// The core's table, one step nearer for a post, and on a cache line that no subscribing thread writes.
  private let table: BusCore.TopicTable
  let tasks: TaskStarter
  /// Those on other clocks, by the clock's type.
  let deadlinesByClock = Guarded<[ObjectIdentifier: Deadlines]>([:])

  /// A bus without subscribers.
  ///
  /// - Parameters:
  ///   - taskExecutor: where asynchronous handlers prefer to run; nil for the global executor.
  ///   - nestingLimit: how deep posts may be nested in one another, from 1 to 1,024. A deeper post is refused, and reported as
  ///     ``PostRefused``.
  public convenience init(taskExecutor: (any TaskExecutor)? = nil, nestingLimit: Int = 128) {
    self.init(tasks: TaskStarter(executor: taskExecutor), clock: ContinuousClock(), nestingLimit: nestingLimit)
  }

  /// A bus in the world of a clock: a simulated clock brings its executor along.
  package convenience init(clock: any Clock<Duration>) {
    self.init(tasks: TaskStarter(clock: clock), clock: clock, nestingLimit: 128)
  }

  private init(tasks: TaskStarter, clock: any Clock<Duration>, nestingLimit: Int) {
    self.tasks = tasks
    core = BusCore(limit: min(max(nestingLimit, 1), 1024), deadlines: Deadlines(clock: clock, tasks: tasks))
    table = core.table
  }

  deinit {
    core.endAll()
    core.deadlines.rest()
    for deadlines in deadlinesByClock.withLock({ $0.values.map { $0 } }) { deadlines.rest() }
  }
}

// MARK: - Posting

extension EventBus {
  /// Posts an event; its synchronous handlers have run when this returns, and its asynchronous handlers have the event in their
  /// mailbox.
  ///
  /// Takes no lock and allocates nothing on the way to synchronous handlers; counts a reference for those with an owner alone.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: what it happened to, for subscriptions to this object only.
  /// - Complexity: linear in the number of subscribers to the event, without those to other subjects.
  public func post<E: Event>(_ event: E, from subject: (any AnyObject & Sendable)? = nil) {
    guard let topic = BusCore.topicAtOnce(of: E.self, in: table) else {
      return Posting.postOutOfLine(event, on: core, from: subject)
    }
    Posting.post(event, to: topic, from: subject)
  }

  /// Posts a main-actor event; its synchronous handlers have run when this returns, and its asynchronous handlers have the
  /// event in their mailbox.
  ///
  /// Takes no lock and allocates nothing on the way to synchronous handlers; counts a reference for those with an owner alone.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: what it happened to, for subscriptions to this object only.
  /// - Complexity: linear in the number of subscribers to the event, without those to other subjects.
  @MainActor public func post<E: MainActorEvent>(_ event: E, from subject: (any AnyObject & Sendable)? = nil) {
    Posting.postOutOfLine(event, on: core, from: subject)
  }
}

// MARK: - Looking

extension EventBus {
  /// Whether a post of this type would reach a subscriber, or be seen: else its event need not be made.
  package func isHeard<E: BusEvent>(_ type: E.Type) -> Bool { core.isHeard(type) }

  /// One subscription, as ``EventBus/subscriptions`` lists it.
  public struct Listing: Sendable, Hashable, CustomStringConvertible {
    /// The subscriber: its label and its place in the source.
    public let subscriber: Subscriber
    /// The name of the events; nil for a subscription to all events.
    public let eventName: EventName?
    /// Its place in the order of delivery.
    public let priority: Priority

    /// The listing on one line: `label at Module/File.swift:12: Event, priority 0`.
    public var description: String {
      let position = "\(subscriber.fileID):\(subscriber.line)"
      let name = subscriber.label.map { "\($0) at \(position)" } ?? position
      return "\(name): \(eventName?.rawValue ?? "all events"), priority \(priority.rawValue)"
    }
  }

  /// All subscriptions, in order of subscription.
  ///
  /// - Complexity: linear in their number, with the time to sort them.
  public var subscriptions: [Listing] { core.listings }

  /// Calls a tracer with every post before its delivery, on the poster's thread.
  ///
  /// A tracer is no receiver. Posts cost more while there is one, and nothing measurable while there is none.
  ///
  /// - Parameter body: called with each event.
  /// - Returns: an object whose release ends the tracing.
  public func trace(_ body: @escaping @Sendable (any BusEvent) -> Void) -> Tracing { Tracing(core, body) }
}

/// Keeps a tracer on an ``EventBus``; its release ends the tracing.
public final class Tracing: Sendable {
  private let core: BusCore
  private let tracer: BusCore.Tracer

  init(_ core: BusCore, _ body: @escaping @Sendable (any BusEvent) -> Void) {
    self.core = core
    tracer = BusCore.Tracer(body)
    core.add(tracer)
  }

  deinit { core.remove(tracer) }
}

// MARK: - For what carries events between buses

extension EventBus {
  /// How many posts are under way on this thread, on whichever bus: one that is nested is deeper than the one around it.
  package static var depthOfPosts: Int { Posting.depth }

  /// Posts an event as `post` does, and tells when the post is over: its synchronous handlers have returned, and what it has left to
  /// release is not released yet.
  ///
  /// Main-actor events are posted on the main actor.
  package func post<E: BusEvent>(_ event: E, from subject: (any AnyObject & Sendable)?, whenOver: () -> Void) {
    guard let topic = BusCore.topic(of: E.self, in: table) ?? core.firstTopic(of: E.self) else { return }
    BusCore.store(of: topic)._withUnsafeGuaranteedRef { store in
      withUnsafePointer(to: event) { event in
        withoutActuallyEscaping(whenOver) { store.postGenerally(event, from: subject, whenOver: $0) }
      }
    }
  }
}
