import PubSub

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Calls a sink for messages on a thread of its own, one message after another.
///
/// Senders do not wait for a sink that hangs.
final class MessageSink: Sendable {
  /// How long a sender waits for the sink.
  static let patience = Duration.milliseconds(250)

  fileprivate struct Waiting: Sendable {
    let message: HostMessage
    /// Is woken when the sink has returned; nil where the sender does not wait.
    let end: WakePipe?
    let number: Int
  }

  fileprivate struct State: Sendable {
    var waiting: [Waiting] = []
    var lastNumber = 0
    /// Whether a thread calls the sink.
    var isRunning = false
    /// Whether a sender has given up waiting, and the call has not returned since.
    var isLate = false
  }

  private let call: @Sendable (HostMessage) -> Void
  private let patience: Duration
  private let state = Guarded(State())

  init(patience: Duration = MessageSink.patience, _ call: @escaping @Sendable (HostMessage) -> Void) {
    (self.patience, self.call) = (patience, call)
  }

  /// Hands a message over.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - waits: whether to wait until the sink has returned.
  /// - Returns: the messages that belong on standard error, oldest first: none if the sink has this one or will get it. Otherwise this
  ///   one, after those that no sender waits for and with which the sink has not been called.
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
      // The call with this message may still come to its end; standard error has the message in any case.
      return unsent.isEmpty ? [message] : unsent
    }
  }

  private func run() {
    while let next = state.withLock({ $0.next() }) {
      call(next.message)
      state.withLock { $0.isLate = false }
      next.end?.wake()
    }
  }

  /// Whether the sink returns in time; a signal does not end the wait.
  private func hasWoken(_ end: WakePipe) -> Bool {
    // Without a descriptor there is nothing to wait for.
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
  /// Removes a message, and those before it that no sender waits for.
  ///
  /// - Returns: the messages that were removed, oldest first; empty if the sink has been called with the message.
  fileprivate mutating func takeBack(_ number: Int) -> [HostMessage] {
    let unsent = waiting.filter { $0.number == number || $0.number < number && $0.end == nil }
    waiting.removeAll { entry in unsent.contains { $0.number == entry.number } }
    return unsent.map(\.message)
  }

  /// The message with which the sink is called next; nil if there is none, and the thread ends.
  fileprivate mutating func next() -> MessageSink.Waiting? {
    guard !waiting.isEmpty else {
      isRunning = false
      return nil
    }
    return waiting.removeFirst()
  }
}
