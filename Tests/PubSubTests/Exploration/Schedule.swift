/// Which thread had the turn, told by the places at which it did not go the plain way: to the thread that had it, or to the first that could
/// go on.
struct Schedule: Equatable, CustomStringConvertible {
  struct Switch: Equatable {
    /// After so many steps of all threads together.
    let step: Int
    let thread: Int
  }

  var switches: [Switch] = []

  init() {}

  /// Reads what ``description`` writes; nil if it is something else.
  init?(_ text: some StringProtocol) {
    for part in text.split(separator: " ") {
      let numbers = part.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
      guard numbers.count == 2, let step = numbers[0], let thread = numbers[1] else { return nil }
      switches.append(Switch(step: step, thread: thread))
    }
  }

  /// `12:1 30:0`: after 12 steps it is thread 1's turn, after 30 that of thread 0.
  var description: String { switches.map { "\($0.step):\($0.thread)" }.joined(separator: " ") }
}
