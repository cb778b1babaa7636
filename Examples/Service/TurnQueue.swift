/// A queue of members that are served in turns, a share of work at a time.
///
/// A value without I/O. A turn does a bounded amount of work, however many members there are; between two turns the thread does its
/// other work. Each member is served once before any is served again.
struct TurnQueue<Member> {
  /// The result of serving a member.
  struct Served: Hashable, Sendable {
    /// The amount of work done for the member.
    var work: Int
    /// Whether the member has to be served again.
    var hasMore: Bool
  }

  /// The amount of work in a turn; the last member's share may exceed it.
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
      // Compacts only once half of the array is free, so that a member is moved less often than it is served.
      if head * 2 >= members.count {
        members.removeFirst(head)
        head = 0
      }
    }
    return members[head]
  }

  /// Records the work done for the member that ``next()`` returned.
  mutating func didServe(_ member: Member, _ served: Served) {
    // Checking a member that has nothing to do costs work, too.
    work += max(served.work, 1)
    if served.hasMore { members.append(member) }
  }
}
