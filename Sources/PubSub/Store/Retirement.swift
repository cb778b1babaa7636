internal import CPubSub

/// What has been taken out of a topic while a thread may still read it.
enum Garbage {
  /// What a cancelled handler captured; named by the buffers in which it stood.
  case context(UnsafeMutableRawPointer)
  case buffer(HandlerBuffer)
  case directory(Directory)
  case table(SubjectTable)
  /// The action of a wait until no handler of a cancelled subscription runs.
  case action(@Sendable () -> Void)
}

/// What the lock has let go of, to be finished without it: it may call back.
struct Released {
  /// The only one, nearly always: it needs no allocation.
  private var context: UnsafeMutableRawPointer?
  private var others: Others?

  private struct Others {
    var contexts: [UnsafeMutableRawPointer] = []
    var actions: [@Sendable () -> Void] = []
    var kept: [AnyObject] = []
  }

  /// Keeps an object until the lock has been let go of.
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

/// The roots that a topic has had and that a thread may still read, with what was retired while each was the root.
///
/// There from the first thing retired until all is freed. What was retired under a root can be freed when no thread protects
/// that root or any older one: an older one may name it, too. The last root is the present one. Guarded by the bus's lock.
struct Retirement {
  /// What was retired while one root was the present one.
  ///
  /// Buffers are apart from the rest: a handler is cancelled in each of them.
  private struct Pile {
    let root: UnsafeRawPointer?
    var buffers: [HandlerBuffer] = []
    var others: [Garbage] = []
    var isEmpty: Bool { buffers.isEmpty && others.isEmpty }
  }

  private var piles: [Pile]
  /// How many actions there are among it.
  private var actions = 0
  /// How many of it are small buffers; and how many are not.
  private var (small, others) = (0, 0)
  /// How many of each the last scan left.
  private var left = (small: 0, others: 0)
  /// No later subscription stands in an older buffer.
  private var lastID: UInt64 = 0

  /// Begins with the present root.
  init(under root: UnsafeRawPointer?) { piles = [Pile(root: root)] }

  /// How many roots a thread may still read, or may have.
  var rootCount: Int { piles.count }
  var isEmpty: Bool { piles.count == 1 && piles[0].isEmpty }
  /// Whether something waits for readers of the present root.
  var waitsForPresentRoot: Bool { !piles[piles.count - 1].isEmpty }
  /// Whether something waits for readers of the present root, and nothing for readers of an older one: until the last of these
  /// readers leaves, no other post frees anything.
  var waitsForPresentRootAlone: Bool { piles.count == 1 && waitsForPresentRoot }

  /// Whether an action waits for readers, and not memory alone.
  var hasActions: Bool { actions > 0 }

  /// Whether enough has been retired since the last scan.
  ///
  /// As much again as was left then, so that it takes constant time for each, on average, also while one post does not end. A
  /// few small buffers may wait: no other code refers to them.
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

  /// A new root was published.
  mutating func didPublish(_ root: UnsafeRawPointer?) { piles.append(Pile(root: root)) }

  /// Frees what no thread can read any more.
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

  /// Cancels a handler wherever an older buffer still names it.
  ///
  /// - Complexity: linear in the number of retired buffers, of which there are few: each is half as large again as the one before.
  func cancel(_ id: UInt64) {
    guard id <= lastID else { return }
    for pile in piles {
      for buffer in pile.buffers {
        if let index = buffer.index(of: id) { pubsub_cancel_handler(buffer.handlers + index) }
      }
    }
  }

  /// Whether any thread protects one of the roots.
  var isRead: Bool { firstRead < piles.count }

  /// The oldest root that a thread protects; their number if none is.
  private var firstRead: Int {
    withUnsafeTemporaryAllocation(of: UnsafeRawPointer?.self, capacity: piles.count) { roots in
      for index in piles.indices { roots.initializeElement(at: index, to: piles[index].root) }
      // There is always one, so there is an address.
      return pubsub_first_protected(roots.baseAddress.unsafelyUnwrapped, roots.count)
    }
  }
}

/// Whether any thread protects a root of a topic.
func isRead(_ root: UnsafeRawPointer?) -> Bool {
  root != nil && withUnsafePointer(to: root) { pubsub_first_protected($0, 1) == 0 }
}
