/// The asynchronous handlers inside which the present task runs.
///
/// A task local: it is inherited by the tasks that a handler starts, which may outlive it, so each link knows its end.
enum HandlerChain {
  /// How long a wait made inside a handler lasts at most.
  static let waitBudget: Duration = .seconds(30)

  @TaskLocal static var current: [Link] = []

  final class Link: Sendable {
    let registration: Registration
    let eventName: EventName
    private let ended = Guarded(false)

    init(_ registration: Registration, _ eventName: EventName) {
      self.registration = registration
      self.eventName = eventName
    }

    var hasEnded: Bool { ended.withLock { $0 } }
    func end() { ended.withLock { $0 = true } }
  }
}
