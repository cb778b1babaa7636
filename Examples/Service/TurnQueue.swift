/// Members that have more to do than fits into one share, in the order in which they are served.
///
/// Pure. A turn does a bounded amount of work, however many members there are: all else that the thread has to do comes
/// between two turns. Each member is served once before any is served again.
struct TurnQueue<Member> {
  /// What serving a member came to.
  struct Served: Hashable, Sendable {
    /// How much was done for it.
    var work: Int
    /// Whether it has to be served again.
    var hasMore: Bool
  }

  /// The work of a turn; exceeded by the last member's share at most.
  let limit: Int
  private var members: [Member] = []
  private var head = 0
  private var work = 0

  init(limit: Int) { self.limit = limit }

  var isEmpty: Bool { head == members.count }

  /// Adds a member behind all others.
  mutating func add(_ member: Member) { members.append(member) }

  mutating func beginTurn() { work = 0 }

  /// Takes the member to serve next; nil when the turn is over or no member is left.
  mutating func next() -> Member? {
    guard work < limit, head < members.count else { return nil }
    defer {
      head += 1
      // Once half of the array is free: a member is moved less often than it is served.
      if head * 2 >= members.count {
        members.removeFirst(head)
        head = 0
      }
    }
    return members[head]
  }

  /// Notes what was done for the member that ``next()`` returned.
  mutating func didServe(_ member: Member, _ served: Served) {
    // A look at a member that had nothing to do is work, too.
    work += max(served.work, 1)
    if served.hasMore { members.append(member) }
  }
}
