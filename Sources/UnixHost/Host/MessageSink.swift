import LibC
import PubSub
import Scheduling

/// Calls a sink for messages on a thread of its own, one message after another.
///
/// A sender waits for the sink only for a limited time.
final class MessageSink: Sendable {
  /// The time for which a sender waits for the sink.
  static let patience = Duration.milliseconds(250)

  struct Waiting: Sendable {
    let message: HostMessage
    /// The pipe that is woken when the sink has returned; nil if the sender does not wait.
    let end: WakePipe?
    let number: Int
  }

  struct State: Sendable {
    var waiting: [Waiting] = []
    var lastNumber = 0
    /// Whether a thread calls the sink.
    var isRunning = false
    /// Whether a sender has given up waiting for a call that has not returned yet.
    var isLate = false
  }

  private let call: @Sendable (HostMessage) -> Void
  private let patience: Duration
  private let state = Guarded(State())

  init(patience: Duration = MessageSink.patience, _ call: @escaping @Sendable (HostMessage) -> Void) {
    (self.patience, self.call) = (patience, call)
  }

  /// Passes a message to the sink.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - waits: whether to wait until the sink has returned.
  /// - Returns: the messages to write to standard error, oldest first: none if the sink has received this message or
  ///   will receive it. Otherwise this message, after earlier messages for which no sender waits and that the sink has
  ///   not received.
  func take(_ message: HostMessage, waits: Bool) -> [HostMessage] {
    let end = waits ? WakePipe() : nil
    let (number, mustStart): (Int?, Bool) = state.withLock { state in
      if state.isLate { return (nil, false) }
      state.lastNumber += 1
      state.waiting.append(Waiting(message: message, end: end, number: state.lastNumber))
      defer { state.isRunning = true }
      return (state.lastNumber, !state.isRunning)
    }
    guard let number else { return [message] }
    if mustStart, !NativeThread.start({ self.run() }) {
      return state.withLock { state in
        state.isRunning = false
        return state.takeBack(number)
      }
    }
    guard let end, !hasWoken(end) else { return [] }
    return state.withLock { state in
      if state.isRunning { state.isLate = true }
      let unsent = state.takeBack(number)
      // The call with this message may still return later; standard error gets the message in any case.
      return unsent.isEmpty ? [message] : unsent
    }
  }

  private func run() {
    while let next = state.withLock({ $0.next() }) {
      call(next.message)
      next.end?.wake()
    }
  }

  /// Waits until the sink has returned or the time has passed; a signal does not end the wait.
  private func hasWoken(_ end: WakePipe) -> Bool {
    // Without a descriptor the sender cannot wait.
    guard end.descriptor >= 0 else { return false }
    return withExtendedLifetime(end) {
      let deadline = ContinuousClock.now + patience
      while true {
        let left = max(.zero, deadline - .now)
        var waiting = pollfd(fd: end.descriptor, events: Int16(POLLIN), revents: 0)
        let count = poll(&waiting, 1, Int32((left / .milliseconds(1)).rounded(.up)))
        if count > 0 { return true }
        if count == 0 || errno != EINTR { return false }
      }
    }
  }
}

extension MessageSink.State {
  /// Removes a message, and the earlier messages for which no sender waits.
  ///
  /// - Returns: the messages that were removed, oldest first; empty if the sink has been called with the message.
  fileprivate mutating func takeBack(_ number: Int) -> [HostMessage] {
    let unsent = waiting.filter { $0.number == number || $0.number < number && $0.end == nil }
    waiting.removeAll { entry in unsent.contains { $0.number == entry.number } }
    return unsent.map(\.message)
  }

  /// Ends the call before, and returns the next message for the sink; nil if there is none, and the thread ends.
  mutating func next() -> MessageSink.Waiting? {
    // Together with the end of the thread: a sender that gives up in between would find no call that ends its lateness.
    isLate = false
    guard !waiting.isEmpty else {
      isRunning = false
      return nil
    }
    return waiting.removeFirst()
  }
}
