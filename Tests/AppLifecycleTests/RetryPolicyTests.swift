import AppLifecycle
import Testing

@Suite struct `The wait before a retry` {
  @Test func `grows up to its longest, and jitter only shortens it`() {
    let policy = RetryPolicy()
    #expect(
      [1, 2, 3, 7, 8, 9, .max].map { policy.delay(afterFailures: $0, chance: 0) } == [
        .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(16), .seconds(30), .seconds(30), .seconds(30),
      ])
    #expect(policy.delay(afterFailures: 1, chance: 1) == .milliseconds(200))
    #expect(policy.delay(afterFailures: 3, chance: 0.5) == .milliseconds(900))
  }

  @Test(arguments: [-1, 0, 0.5, 1, 1.5, 1e300, .infinity, .nan])
  func `has an end, whatever the policy says`(number: Double) {
    var policy = RetryPolicy()
    policy.factor = number
    policy.jitter = number
    for longest in [Duration.zero, .seconds(1), .seconds(Int64.max)] {
      policy.longest = longest
      for first in [Duration.zero, .milliseconds(250), .seconds(Int64.max)] {
        policy.first = first
        for failures in [.min, 0, 1, 2, 1_000] {
          let delay = policy.delay(afterFailures: failures, chance: 1)
          #expect(delay >= RetryPolicy.shortest && delay <= max(longest, RetryPolicy.shortest))
        }
      }
    }
  }

  @Test func `is never so short that a resource that fails at once keeps the processor busy`() {
    for first in [Duration.zero, .nanoseconds(1), .seconds(-1)] {
      for longest in [Duration.zero, .seconds(-1), .seconds(1)] {
        let policy = RetryPolicy(first: first, longest: longest, jitter: 1)
        for failures in [1, 2, 1_000] {
          #expect(policy.delay(afterFailures: failures, chance: 1) >= .milliseconds(1))
        }
      }
    }
  }
}
