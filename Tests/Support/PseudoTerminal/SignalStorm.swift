import Glibc

/// Signals that are sent one after another, in less time than the programs take for a single order.
package struct SignalStorm: Sendable {
  /// The hosts count a copy of an order as that order until half a second after they took the first one.
  ///
  /// What is left of it is for the program's own threads, which take the signal up some time after it was sent.
  package static let limit = Duration.milliseconds(400)

  private let time: Duration
  private let count: Int
  private let pause: UInt32
  private let clock: @Sendable () -> Duration

  /// A storm.
  ///
  /// - Parameters:
  ///   - time: How long to send, less than ``limit``.
  ///   - count: How many times to send at most.
  ///   - pause: The time between two signals in microseconds. Each one goes on its own, so that they do not become one while
  ///     they are pending; the length is the scenario's, and nothing is waited for.
  ///   - clock: The time since any moment; a test of this type gives its own.
  package init(
    for time: Duration, count: Int = .max, pause: UInt32,
    clock: @escaping @Sendable () -> Duration = SignalStorm.time
  ) {
    precondition(time < Self.limit)
    (self.time, self.count, self.pause, self.clock) = (time, count, pause, clock)
  }

  /// The time since the first storm.
  package static let time: @Sendable () -> Duration = {
    let origin = ContinuousClock.now
    return { origin.duration(to: .now) }
  }()

  /// Calls `send` until the time is up, or as often as asked, and blocks this thread meanwhile.
  ///
  /// - Returns: Whether the last call returned within ``limit``. If not, the machine held this thread up, and the signal may be
  ///   an order of its own.
  package func run(_ send: () -> Void) -> Bool {
    let start = clock()
    var (end, sent) = (start, 0)
    while sent < count, end - start < time {
      send()
      sent += 1
      end = clock()
      if sent < count { usleep(pause) }
    }
    return end - start < Self.limit
  }
}
