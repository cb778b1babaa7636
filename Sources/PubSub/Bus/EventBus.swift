internal import CPubSub

/// Carries events from those who post them to those who subscribed, in order and without either knowing the other.
///
/// One post reaches its subscribers in order of priority (highest first), within a priority in the order of subscription;
/// wildcard, by-name, subject-filtered and plain subscribers stand in that same single order. Event types with the trait
/// ``EventTraits/reversed`` get the mirror image. A post made inside a handler is delivered at once, depth first.
///
/// Every call is allowed from any thread and inside a handler; no synchronous one can deadlock, as no lock is held while a
/// handler runs, and a post takes none. A bus that is released ends its subscriptions and its event sequences.
public final class EventBus: Sendable {
  let core: BusCore
  /// The core's, one step nearer for a post, and on a line that nobody writes who subscribes.
  private let table: BusCore.TopicTable
  let tasks: TaskStarter
  /// Those on other clocks, by the clock's type.
  let deadlinesByClock = Guarded<[ObjectIdentifier: Deadlines]>([:])

  /// A bus without subscribers.
  ///
  /// - Parameters:
  ///   - taskExecutor: where asynchronous handlers prefer to run; nil for the global executor.
  ///   - nestingLimit: how deep posts may be nested in one another, from 1 to 1,024. A deeper one is refused, and reported
  ///     as ``PostRefused``.
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
  /// Posts an event; synchronous handlers have run when this returns, asynchronous ones have it in their mailbox.
  ///
  /// Takes no lock, allocates nothing and counts no reference on the way to synchronous handlers.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: what it happened to, for those who subscribed to this object only.
  /// - Complexity: linear in the number of subscribers to the event, those to other subjects not counted.
  public func post<E: Event>(_ event: E, from subject: (any AnyObject & Sendable)? = nil) {
    guard let topic = BusCore.topicAtOnce(of: E.self, in: table) else {
      return Posting.postOutOfLine(event, on: core, from: subject)
    }
    Posting.post(event, to: topic, from: subject)
  }

  /// Posts a main-actor event; synchronous handlers have run when this returns, asynchronous ones have it in their mailbox.
  ///
  /// Takes no lock, allocates nothing and counts no reference on the way to synchronous handlers.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: what it happened to, for those who subscribed to this object only.
  /// - Complexity: linear in the number of subscribers to the event, those to other subjects not counted.
  @MainActor public func post<E: MainActorEvent>(_ event: E, from subject: (any AnyObject & Sendable)? = nil) {
    Posting.postOutOfLine(event, on: core, from: subject)
  }
}

// MARK: - Looking

extension EventBus {
  /// Whether a post of this type would reach anybody, or be seen: else its event need not be made.
  package func isHeard<E: BusEvent>(_ type: E.Type) -> Bool { core.isHeard(type) }

  /// One subscription, as ``EventBus/subscriptions`` lists it.
  public struct Listing: Sendable, Hashable, CustomStringConvertible {
    /// Who subscribed, and where.
    public let subscriber: Subscriber
    /// To which events; nil for who subscribed to all of them.
    public let eventName: EventName?
    /// Where it stands in the order of delivery.
    public let priority: Priority

    /// All of it on one line: `label at Module/File.swift:12: Event, priority 0`.
    public var description: String {
      let position = "\(subscriber.fileID):\(subscriber.line)"
      let who = subscriber.label.map { "\($0) at \(position)" } ?? position
      return "\(who): \(eventName?.rawValue ?? "all events"), priority \(priority.rawValue)"
    }
  }

  /// Everybody who subscribes, in order of subscription.
  ///
  /// - Complexity: linear in their number, with the time to sort them.
  public var subscriptions: [Listing] { core.listings }

  /// Shows every post to a tracer, before it is delivered, on the poster's thread.
  ///
  /// A tracer is no receiver. Posts cost more while there is one, and nothing measurable while there is none.
  ///
  /// - Parameter body: called with each event.
  /// - Returns: what ends the tracing when it is released.
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
