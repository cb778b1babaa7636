/// How long and how often things are measured.
struct Scale: Sendable {
  let isQuick: Bool

  /// How long a timed round takes.
  var slice: Duration { isQuick ? .milliseconds(2) : .milliseconds(5) }
  /// How many rounds count where rounds are short.
  var rounds: Int { isQuick ? 15 : 41 }
  /// How many rounds count where one takes a good part of a second.
  var longRounds: Int { isQuick ? 3 : 7 }
  /// How many events a round of asynchronous delivery posts.
  var asynchronousEvents: Int { isQuick ? 3_000 : 10_000 }
}
