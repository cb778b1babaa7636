internal import Scheduling

/// The graph of all waits inside handlers and work; it finds waits that could never end, before they begin.
///
/// The nodes are the mailboxes of handlers, and scopes of work. Edges lead from a mailbox to everything that the present run of its
/// handler waits for, and from a scope to everything that its unfinished work waits for. Only a wait that begins inside a handler or
/// work can close a circle, so only such a wait searches the graph. A handler on one bus may wait for one on another, so
/// there is one graph, under one lock; no mailbox is locked while it is held.
enum WaitGraph {
  typealias Node = any AnyObject & Sendable

  private struct Wait {
    let id: UInt64
    /// Whether it is a wait of `cancelAndDrain()`.
    let isDrain: Bool
    /// The code that waits; kept alive, so that no other object gets the address of one of its nodes.
    let context: HandlerContext
    let awaited: @Sendable () -> [Node]
  }

  private struct State {
    var lastID: UInt64 = 0
    var waits: [ObjectIdentifier: [Wait]] = [:]

    mutating func begin(
      in context: HandlerContext, isDrain: Bool = false, awaiting awaited: @escaping @Sendable () -> [Node]
    ) -> WaitToken {
      lastID += 1
      for node in context.nodes {
        waits[ObjectIdentifier(node), default: []]
          .append(Wait(id: lastID, isDrain: isDrain, context: context, awaited: awaited))
      }
      return WaitToken(context: context, id: lastID)
    }

    /// Returns whether a wait for the targets would, along the chain of waits, be a wait for the context itself; without `drains`, those of
    /// `cancelAndDrain()` do not count.
    ///
    /// All that it comes to is appended to `targets`, which keeps it until after the lock: the last reference to a mailbox runs the
    /// program's code, and another object may get its address.
    func leads(from targets: inout [Node], to context: HandlerContext, drains: Bool) -> Bool {
      var seen: Set<ObjectIdentifier> = []
      var index = 0
      while index < targets.count {
        let target = targets[index]
        index += 1
        guard seen.insert(ObjectIdentifier(target)).inserted else { continue }
        if context.isPresent(at: target) { return true }
        for wait in waits[ObjectIdentifier(target)] ?? [] where drains || !wait.isDrain {
          if wait.context.isPresent(at: target) { targets += wait.awaited() }
        }
      }
      return false
    }
  }

  private static let state = Guarded(State())

  /// Begins the wait of a post made in a context; nil outside a handler and outside work.
  ///
  /// The wait is for the handlers that `awaited` returns whenever the graph is searched. It looks for no circle: the post has
  /// each of them examined by `extend`.
  static func beginWithoutSearch(
    in context: HandlerContext?, awaiting awaited: @escaping @Sendable () -> [Node]
  ) -> WaitToken? {
    context.map { context in state.withLock { $0.begin(in: context, awaiting: awaited) } }
  }

  /// Begins a wait in a context for some targets; returns nil if it would close a circle.
  static func beginUnlessCircular(in context: HandlerContext, awaiting targets: [Node]) -> WaitToken? {
    search(from: targets, to: context) { state, leads in leads ? nil : state.begin(in: context) { targets } }
  }

  /// How a drain of a mailbox inside a handler or work begins.
  enum DrainBeginning {
    case begun(WaitToken)
    /// The handler waits for the code that drains, through posts and work.
    case isAwaited
    /// The handler waits for it, and another drain is part of that.
    case closesCircle
  }

  /// Begins a drain of a mailbox, unless its handler waits for the context.
  static func beginDrain(of mailbox: AnyMailbox, in context: HandlerContext) -> DrainBeginning {
    var targets: [Node] = [mailbox]
    let beginning = search(from: targets, to: context, drains: false) { state, leads -> DrainBeginning in
      if leads { return .isAwaited }
      if state.leads(from: &targets, to: context, drains: true) { return .closesCircle }
      return .begun(state.begin(in: context, isDrain: true) { [mailbox] })
    }
    withExtendedLifetime(targets) {}
    return beginning
  }

  fileprivate static func end(_ token: WaitToken) {
    // Released after the lock.
    let former = state.withLock { state -> [Wait] in
      var former: [Wait] = []
      for node in token.context.nodes {
        guard let waits = state.waits[ObjectIdentifier(node)] else { continue }
        let others = waits.filter { $0.id != token.id }
        state.waits[ObjectIdentifier(node)] = others.isEmpty ? nil : others
        former += waits
      }
      return former
    }
    withExtendedLifetime(former) {}
  }

  /// Calls `add`, which adds a mailbox to a wait that has begun, unless that would close a circle.
  static func extend(waitIn context: HandlerContext?, by mailbox: AnyMailbox, _ add: () -> Void) {
    guard let context else { return add() }
    search(from: [mailbox], to: context) { _, leads in if !leads { add() } }
  }

  /// Runs `body` under the lock, with whether a wait for the targets would be one for the context.
  private static func search<Result>(
    from targets: [Node], to context: HandlerContext, drains: Bool = true, _ body: (inout State, Bool) -> Result
  ) -> Result {
    var (targets, result) = (targets, Result?.none)
    state.withLock { state in result = body(&state, state.leads(from: &targets, to: context, drains: drains)) }
    withExtendedLifetime(targets) {}
    return result.unsafelyUnwrapped
  }
}

extension HandlerContext {
  fileprivate var nodes: [WaitGraph.Node] {
    let nodes: [WaitGraph.Node?] = [run?.mailbox, work?.scope]
    return nodes.compactMap { $0 }
  }

  /// Whether the code is the present run of a mailbox's handler, or unfinished work of a scope.
  fileprivate func isPresent(at node: WaitGraph.Node) -> Bool {
    if let run, run.mailbox === node { return run.isUnderWay }
    if let work, work.scope === node { return work.isUnderWay }
    return false
  }
}

/// A handle for ending a wait in the graph.
package struct WaitToken: Sendable {
  fileprivate let context: HandlerContext
  fileprivate let id: UInt64

  /// Ends the wait.
  package func end() { WaitGraph.end(self) }
}
