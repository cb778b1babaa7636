internal import CPubSub
internal import Scheduling

/// An event bus: it delivers events from posters to subscribers in a defined order, and neither needs to know the
/// other.
///
/// A post reaches its subscribers in order of priority (highest first), and within a priority in the order of
/// subscription. This one order covers all subscribers: to a type, to a name, to all events, and to one subject. Event
/// types whose ``EventBus/Event/isReversed`` is true are delivered in the reverse order. A post inside a handler is
/// delivered at once, depth first.
///
/// A handler of `subscribe` is *synchronous*: the bus calls it before the post returns. A handler of `receive` is
/// *asynchronous*, also without `await` in it: it has a mailbox, and the bus calls it later.
///
/// Any thread may make any call that is not marked `@MainActor`, also inside a handler. No synchronous call can
/// deadlock, because the bus holds no lock while it calls a handler. Releasing the bus ends its subscriptions and its
/// event sequences.
public final class EventBus: Sendable {
  let core: BusCore
  /// The address of the word that points to the table of topics (``BusCore/tableWord``), kept here too: it saves a post one load.
  private nonisolated(unsafe) let tableWord: BusCore.TableWord
  let tasks: TaskStarter

  /// Creates a bus without subscribers.
  ///
  /// - Parameters:
  ///   - taskExecutor: the executor preference of asynchronous handlers; nil for the global executor.
  ///   - nestingLimit: how many posts may be nested in one another, from 1 to 1,024; a deeper post is refused
  ///     (``EventBus/PostRefused``).
  public convenience init(taskExecutor: (any TaskExecutor)? = nil, nestingLimit: Int = 128) {
    self.init(tasks: TaskStarter(executor: taskExecutor), clock: ContinuousClock(), nestingLimit: nestingLimit)
  }

  /// Creates a bus on a clock; with a simulated clock, its tasks run on that clock's executor.
  package convenience init(clock: any Clock<Duration>) {
    self.init(tasks: TaskStarter(clock: clock), clock: clock, nestingLimit: 128)
  }

  private init(tasks: TaskStarter, clock: any Clock<Duration>, nestingLimit: Int) {
    self.tasks = tasks
    core = BusCore(
      limit: min(max(nestingLimit, 1), Int(PUBSUB_DEEPEST)), deadlines: Deadlines(ClockHandle(clock), tasks: tasks))
    tableWord = core.tableWord
  }

  deinit { core.endAll() }
}

// MARK: - Posting

extension EventBus {
  /// Posts an event; when this method returns, the synchronous handlers have run, and the mailboxes of asynchronous
  /// handlers hold the event.
  ///
  /// A post to synchronous handlers takes no lock and allocates nothing, unless its type is sticky, the bus has a
  /// tracer or a subscription to ``Undelivered``, it is the first post of the type or of the thread, a subscription
  /// ends with it, or a writer waits for it. It counts references only for handlers with an owner. A handler of
  /// `subscribeToAll` gets a copy of the event, for which a large event is allocated.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: the object that the event is about; subscriptions to other objects do not receive the post.
  /// - Complexity: linear in the number of subscribers that receive the event.
  public func post<E: BusEvent>(_ event: E, from subject: (any AnyObject & Sendable)? = nil) {
    // Looks in one cell only, where nearly every topic is; the whole search is out of line.
    guard let topic = BusCore.topicAtOnce(of: E.self, in: tableWord) else {
      return Posting.postOutOfLine(event, on: core, from: subject)
    }
    Posting.post(event, to: topic, from: subject)
  }

  /// Posts a main-actor event; when this method returns, the synchronous handlers have run, and the mailboxes of
  /// asynchronous handlers hold the event.
  ///
  /// It costs as much as the post of a ``BusEvent``.
  ///
  /// - Parameters:
  ///   - event: what happened.
  ///   - subject: the object that the event is about; subscriptions to other objects do not receive the post.
  @MainActor public func post<E: MainActorEvent>(_ event: E, from subject: (any AnyObject & Sendable)? = nil) {
    // Out of line, or the compiler would merge this body with the one above, and both would begin with a jump.
    Posting.postOutOfLine(event, on: core, from: subject)
  }
}

// MARK: - Inspecting a post

extension EventBus {
  /// The subject of the post whose synchronous handler or tracer runs on this thread; nil if the post named none.
  ///
  /// It is also nil outside a post, as in an asynchronous handler and in a call with a replayed event.
  public static var subjectOfPost: Subject? { Posting.subject }
}

// MARK: - Inspecting a bus

extension EventBus {
  /// Returns whether a post of this type would reach a subscriber or a tracer; if not, the caller need not make an
  /// event that is costly to make.
  ///
  /// - Parameter type: the events.
  /// - Returns: false if nothing would receive a post that is made now. A subscription to one subject counts, and so
  ///   does the bus, which keeps a sticky event. Where there is a subscription to ``Undelivered``, it is true; before the first post or
  ///   subscription of the type, any subscription by name makes it true.
  /// - Complexity: constant; takes no lock.
  public func hasSubscribers<E: Event>(_ type: E.Type = E.self) -> Bool { core.hasSubscribers(type) }

  /// Returns the same for a type that is not sticky, without looking whether it is.
  package func hasReceivers<E: Event>(of type: E.Type) -> Bool { core.hasReceivers(of: type) }

  /// One subscription, as ``EventBus/subscriptions`` lists it.
  public struct Listing: Sendable, Hashable, CustomStringConvertible {
    /// The subscriber: its label and its source position.
    public let subscriber: Subscriber
    /// The name of the events; nil for a subscription to all events.
    public let eventName: EventName?
    /// The priority of the subscriber in the order of delivery.
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
  /// - Complexity: n log n in the number of subscriptions: they are sorted.
  public var subscriptions: [Listing] { core.listings }

  /// Calls a tracer with every post before its delivery, on the poster's thread, as long as the returned object is
  /// kept.
  ///
  /// A tracer does not count as a subscriber (see ``EventBus/Undelivered``). While a bus has a tracer, its posts cost
  /// more; without one the cost is not measurable.
  ///
  /// - Parameter body: called with each event.
  /// - Returns: a token whose release ends the tracing.
  public func trace(_ body: @escaping @Sendable (any Event) -> Void) -> TracerToken { TracerToken(core, body) }
}

extension EventBus {
  /// A token that keeps a tracer on an ``EventBus``; releasing it ends the tracing.
  public final class TracerToken: Sendable {
    private let core: BusCore

    init(_ core: BusCore, _ body: @escaping @Sendable (any Event) -> Void) {
      self.core = core
      core.tracers.withLock { $0.append((ObjectIdentifier(self), body)) }
      core.withLock { _ in core.followWatchers() }
    }

    deinit {
      // Released after the lock: what the closure captured may post as it goes.
      let removed = core.tracers.withLock { tracers in
        tracers.firstIndex { $0.id == ObjectIdentifier(self) }.map { tracers.remove(at: $0) }
      }
      withExtendedLifetime(removed) {}
      Hook.step("trace: the tracer has left the list")
      core.withLock { _ in core.followWatchers() }
    }
  }
}

// MARK: - For bridges between buses

extension EventBus {
  /// The number of posts under way on this thread, on all buses, nested ones included.
  package static var depthOfPosts: Int { pubsub_depth(pubsub_record_of_thread()) }

  /// The number that `TopicStore.changes` gave to the sticky event of the post under way on this thread.
  package static var changeOfLatest: Int { pubsub_record_of_thread().pointee.change }

  /// Removes the latest event of a sticky type; returns the number of this change (`TopicStore.changes`).
  package func numberedRemoval<E: Event>(of type: E.Type) -> Int { core.typedStore(of: type).removeLatest() }

  /// Posts an event as `post` does, and calls `whenOver` when its synchronous handlers have returned; main-actor events are
  /// posted on the main actor.
  ///
  /// Subscriptions to `wider`, an object to which the subject belongs (or the subject itself), receive the event too, once.
  ///
  /// The post ends after `whenOver`, and may then release what cancelled handlers captured. `whenOver` is not called if the
  /// post is refused. Returns the number of the change of the latest event, 0 if there was none.
  @discardableResult
  package func post<E: Event>(
    _ event: E, from subject: (any AnyObject & Sendable)?, within wider: (any AnyObject & Sendable)? = nil,
    whenOver: () -> Void
  ) -> Int {
    core.store(of: E.self)._withUnsafeGuaranteedRef { store in
      withUnsafePointer(to: event) { event in
        withoutActuallyEscaping(whenOver) { store.postGenerally(event, from: subject, within: wider, whenOver: $0) }
      }
    }
  }
}
