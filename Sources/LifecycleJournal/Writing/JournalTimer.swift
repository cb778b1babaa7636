import PubSub

/// The timer of a heartbeat, on an application's clock.
final class JournalTimer: Sendable {
  private let deadlines: Deadlines
  private let deadline = Guarded<Deadlines.ID?>(nil)

  init(on deadlines: Deadlines) { self.deadlines = deadlines }

  /// The time of the application's clock.
  var now: Duration { deadlines.now() }

  /// Does what a heartbeat has decided; `action` is called, with the timer's number, when a timer goes off.
  func perform(_ step: Heartbeat.Step, _ action: @escaping @Sendable (Int) -> Void) {
    switch step {
    case .set(let time, let number):
      let next = deadlines.set(time) { action(number) }
      replace(with: next)
    case .clear: replace(with: nil)
    }
  }

  private func replace(with next: Deadlines.ID?) {
    let last = deadline.withLock { deadline in
      defer { deadline = next }
      return deadline
    }
    if let last { deadlines.clear(last) }
  }

  /// Clears the timer, and lets the clock forget it where nothing else waits on it.
  func end() {
    replace(with: nil)
    deadlines.rest()
  }
}
