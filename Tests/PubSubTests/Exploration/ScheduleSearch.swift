/// A depth-first walk through all sequences of choices that cost no more than a bound.
///
/// A run asks for one choice after another. The next run makes the same ones up to the last that could be made otherwise, and
/// from there on takes the first option each time. The first option costs nothing; another one costs 1, unless it is free.
struct ScheduleSearch {
  private struct Choice {
    let options: Int
    let isFree: Bool
    let spentBefore: Int
    var taken: Int
  }

  /// How much one run may spend.
  let bound: Int
  private var spent = 0
  private var made: [Choice] = []
  /// What the present run has to choose first.
  private var prefix: [Choice] = []
  /// Whether the present run was offered something else than the one before it, after the same choices.
  private(set) var hasDeviated = false

  init(bound: Int) { self.bound = bound }

  /// Whether anything but the first option can be taken where that is not free.
  var canSpend: Bool { spent < bound }

  mutating func choose(among options: Int, isFree: Bool) -> Int {
    // Nothing to come back to.
    guard isFree || canSpend else { return 0 }
    var choice = Choice(options: options, isFree: isFree, spentBefore: spent, taken: 0)
    if made.count < prefix.count {
      let former = prefix[made.count]
      if former.options == options, former.isFree == isFree { choice = former } else { hasDeviated = true }
    }
    made.append(choice)
    if choice.taken > 0, !isFree { spent += 1 }
    return choice.taken
  }

  /// Begins the next run; false if there is none.
  mutating func advance() -> Bool {
    while var last = made.popLast() {
      guard last.taken + 1 < last.options, last.isFree || last.spentBefore < bound else { continue }
      last.taken += 1
      prefix = made + [last]
      (made, spent) = ([], 0)
      return true
    }
    return false
  }
}
