import PubSub

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Calls a sink for messages on a thread of its own, one message after another, and does not wait for one that hangs.
final class MessageSink: Sendable {
  /// How long it may take before a sender goes on without it, in milliseconds.
  private static let patience = Duration.milliseconds(250)

  fileprivate struct Waiting: Sendable {
    let message: HostMessage
    /// Is woken when the message has been taken; nil where the sender does not wait.
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
  private let state = Guarded(State())

  init(_ call: @escaping @Sendable (HostMessage) -> Void) { self.call = call }

  /// Hands a message over.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - waits: whether to wait until the sink has returned.
  /// - Returns: whether the sink has it, or will get it; false if it belongs on standard error.
  func take(_ message: HostMessage, waits: Bool) -> Bool {
    let end = waits ? WakePipe() : nil
    let (number, mustStart): (Int?, Bool) = state.withLock { state in
      if state.isLate { return (nil, false) }
      state.lastNumber += 1
      state.waiting.append(Waiting(message: message, end: end, number: state.lastNumber))
      defer { state.isRunning = true }
      return (state.lastNumber, !state.isRunning)
    }
    guard let number else { return false }
    if mustStart, !NativeThread.start({ self.run() }) {
      state.withLock { $0.isRunning = false }
      return !takeBack(number)
    }
    guard let end else { return true }
    if Self.waits(for: end) { return true }
    state.withLock { if $0.isRunning { $0.isLate = true } }
    // One that is being called with it may still finish; standard error has it in any case.
    _ = takeBack(number)
    return false
  }

  /// Removes a message that the sink has not been called with; whether it was there.
  private func takeBack(_ number: Int) -> Bool {
    state.withLock { state in
      guard let place = state.waiting.firstIndex(where: { $0.number == number }) else { return false }
      state.waiting.remove(at: place)
      return true
    }
  }

  private func run() {
    while let next = state.withLock({ $0.next() }) {
      call(next.message)
      state.withLock { $0.isLate = false }
      next.end?.wake()
    }
  }

  /// Whether the pipe is woken in time; a signal does not end the wait.
  private static func waits(for end: WakePipe) -> Bool {
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
  /// The message with which the sink is called next; nil if there is none, and the thread ends.
  fileprivate mutating func next() -> MessageSink.Waiting? {
    guard !waiting.isEmpty else {
      isRunning = false
      return nil
    }
    return waiting.removeFirst()
  }
}
