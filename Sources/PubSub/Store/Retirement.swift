internal import CPubSub

/// A piece of memory or an action that waits until no thread can read what a topic published before.
enum Garbage {
  /// The object that a cancelled handler captured, or its registration; buffers that held the handler still point to
  /// it.
  case context(UnsafeMutableRawPointer)
  case buffer(HandlerBuffer)
  case directory(Directory)
  case table(SubjectTable)
  /// The action of a drain: called when no handler of a cancelled subscription runs.
  case action(@Sendable () -> Void)
}

/// Objects to release and actions to call after the lock has been released, because they may call the bus.
struct Released {
  /// The first object.
  ///
  /// Usually it is the only one, and then nothing is allocated.
  private var context: UnsafeMutableRawPointer?
  private var others: Others?

  private struct Others {
    var contexts: [UnsafeMutableRawPointer] = []
    var actions: [@Sendable () -> Void] = []
    var kept: [AnyObject] = []
  }

  /// Keeps an object alive until the lock has been released.
  mutating func keep(_ object: AnyObject) { withOthers { $0.kept.append(object) } }

  mutating func add(_ context: UnsafeMutableRawPointer) {
    if self.context == nil { self.context = context } else { withOthers { $0.contexts.append(context) } }
  }

  mutating func add(_ action: @escaping @Sendable () -> Void) { withOthers { $0.actions.append(action) } }

  mutating func add(_ garbage: Garbage) {
    switch garbage {
    case .context(let context): add(context)
    case .buffer(let buffer): buffer.deallocate()
    case .directory(let directory): directory.deallocate()
    case .table(let table): table.deallocate()
    case .action(let action): add(action)
    }
  }

  private mutating func withOthers(_ body: (inout Others) -> Void) {
    var others = others.take() ?? Others()
    body(&others)
    self.others = others
  }

  func finish() {
    Hook.step("release what was captured")
    if let context { Unmanaged<AnyObject>.fromOpaque(context).release() }
    guard let others else { return }
    for context in others.contexts { Unmanaged<AnyObject>.fromOpaque(context).release() }
    for action in others.actions { action() }
  }
}

/// The roots of a topic that a thread may still read, each with the garbage that was retired while it was the root.
///
/// It exists from the first retirement until everything has been freed. Garbage of a root can be freed when no thread
/// protects that root or an older one, because older roots may point to it, too. The last root is the present one. The
/// bus's lock guards the value.
struct Retirement {
  /// The garbage that was retired while one root was the present one.
  ///
  /// Buffers are kept apart from the rest, because a handler is cancelled in each of them.
  private struct Pile {
    let root: UnsafeRawPointer?
    var buffers: [HandlerBuffer] = []
    var others: [Garbage] = []
    var isEmpty: Bool { buffers.isEmpty && others.isEmpty }
  }

  private var piles: [Pile]
  /// The number of actions in the garbage.
  private var actions = 0
  /// The numbers of small buffers and of other pieces in the garbage.
  private var (small, others) = (0, 0)
  /// The numbers of both that the last scan could not free.
  private var left = (small: 0, others: 0)
  /// The highest identifier in a retired buffer.
  private var lastID: UInt64 = 0

  /// Makes a retirement that begins with the present root.
  init(under root: UnsafeRawPointer?) { piles = [Pile(root: root)] }

  /// The number of roots that a thread may still read, the present one included.
  var rootCount: Int { piles.count }
  var isEmpty: Bool { piles.count == 1 && piles[0].isEmpty }
  /// Whether garbage waits for readers of the present root.
  var waitsForPresentRoot: Bool { !piles[piles.count - 1].isEmpty }
  /// Whether garbage waits only for readers of the present root, and none for readers of older roots.
  ///
  /// Then every leaving post must look for garbage: which of them is the last reader is not known.
  var waitsForPresentRootAlone: Bool { piles.count == 1 && waitsForPresentRoot }

  /// Whether an action, and not only memory, waits for readers.
  var hasActions: Bool { actions > 0 }

  /// Whether enough garbage has been retired since the last scan to make another one worthwhile.
  ///
  /// A scan is due when the garbage has doubled since the last one. So scans cost constant time per piece, on average,
  /// even while one post does not end. A few small buffers may wait longer: no program object depends on them.
  var isDue: Bool {
    others > 0 && others >= 2 * left.others || small > Self.mostSmall && small >= 2 * left.small
  }

  private static let mostSmall = 16

  mutating func retire(_ garbage: Garbage) {
    switch garbage {
    case .buffer(let buffer):
      piles[piles.count - 1].buffers.append(buffer)
      lastID = max(lastID, buffer.lastID)
    case .action:
      actions += 1
      fallthrough
    default: piles[piles.count - 1].others.append(garbage)
    }
    count(garbage, 1)
  }

  private mutating func count(_ garbage: Garbage, _ change: Int) {
    if case .buffer(let buffer) = garbage, buffer.capacity <= 64 { small += change } else { others += change }
  }

  /// Notes that a new root was published.
  mutating func didPublish(_ root: UnsafeRawPointer?) { piles.append(Pile(root: root)) }

  /// Frees the garbage that no thread can read any more.
  mutating func reclaim(into released: inout Released) {
    let first = firstRead
    Hook.step("reclaim: free what no thread reads")
    for index in 0..<first where !piles[index].isEmpty {
      for garbage in piles[index].others + piles[index].buffers.map(Garbage.buffer) {
        count(garbage, -1)
        if case .action = garbage { actions -= 1 }
        released.add(garbage)
      }
      piles[index].buffers = []
      piles[index].others = []
    }
    piles.removeFirst(min(first, piles.count - 1))
    left = (small, others)
  }

  /// Cancels a handler in all retired buffers that still contain it.
  ///
  /// - Complexity: linear in the number of retired buffers.
  func cancel(_ id: UInt64) {
    guard id <= lastID else { return }
    for pile in piles {
      for buffer in pile.buffers {
        if let index = buffer.index(of: id) { pubsub_cancel_handler(buffer.handlers + index) }
      }
    }
  }

  /// Whether a thread protects one of the roots.
  var isRead: Bool { firstRead < piles.count }

  /// The index of the oldest root that a thread protects; the number of roots if none is protected.
  private var firstRead: Int {
    withUnsafeTemporaryAllocation(of: UnsafeRawPointer?.self, capacity: piles.count) { roots in
      for index in piles.indices { roots.initializeElement(at: index, to: piles[index].root) }
      // There is always one, so there is an address.
      return pubsub_first_protected(roots.baseAddress.unsafelyUnwrapped, roots.count)
    }
  }
}

/// Returns whether a thread protects this root of a topic.
func isRead(_ root: UnsafeRawPointer?) -> Bool {
  root != nil && withUnsafePointer(to: root) { pubsub_first_protected($0, 1) == 0 }
}
