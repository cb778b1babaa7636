/// The background tasks that were refused and whose expiration handlers have not been called yet.
///
/// A handler of a refused task may begin a task, which is refused, too. Handlers are therefore called one after another
/// and never inside one another. After ``limit`` refusals in one state of the application, no further handler is called,
/// because handlers that begin tasks again and again would keep the main actor busy for ever.
struct RefusedTasks: Sendable {
  typealias TaskID = BackgroundTimeStateMachine.TaskID

  /// Whether the handler of a refused task is called.
  enum Refusal: Sendable, Hashable {
    case isCalled
    /// The task is the first one whose handler is not called.
    case isFirstTooMany
    case isTooMany
  }

  /// The number of refused tasks whose handlers are called until the state of the application changes.
  static let limit = 1_000

  private var waiting: [(id: TaskID, handler: @MainActor () -> Void)] = []
  /// The number of refusals in the present state.
  private var count = 0

  /// Begins to count anew, because the state of the application has changed.
  mutating func begin() { count = 0 }

  /// Notes a refusal.
  mutating func note() -> Refusal {
    count = min(count + 1, Self.limit + 2)
    return count <= Self.limit ? .isCalled : count == Self.limit + 1 ? .isFirstTooMany : .isTooMany
  }

  /// Adds a handler to call.
  mutating func add(_ id: TaskID, _ handler: @escaping @MainActor () -> Void) { waiting.append((id, handler)) }

  /// Removes the handler of a task that has ended, and returns it.
  mutating func remove(_ id: TaskID) -> (@MainActor () -> Void)? {
    waiting.firstIndex { $0.id == id }.map { waiting.remove(at: $0).handler }
  }

  /// Whether a handler waits to be called.
  var hasWaiting: Bool { !waiting.isEmpty }

  /// Takes the next handler to call; nil if none waits.
  mutating func next() -> (@MainActor () -> Void)? { waiting.isEmpty ? nil : waiting.removeFirst().handler }
}
