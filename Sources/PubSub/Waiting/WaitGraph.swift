internal import Scheduling

/// The graph of all waits inside handlers and work; it finds waits that could never end, before they begin.
///
/// The nodes are handlers and scopes of work. Edges lead from a handler to everything that its present run waits for,
/// and from a scope to everything that its unfinished work waits for. Only a wait that begins inside a handler or work
/// can close a circle, so only such a wait searches the graph. A handler on one bus may wait for one on another, so
/// there is one graph, under one lock; no mailbox is locked while it is held.
enum WaitGraph {
  /// A target of a wait.
  enum Target {
    /// A mailbox, for the run of its handler.
    case mailbox(AnyMailbox)
    case work(of: WorkScope)
  }

  fileprivate enum Node: Hashable {
    case run(ObjectIdentifier, number: UInt64)
    case work(of: ObjectIdentifier)
  }

  private struct Wait {
    let id: UInt64
    /// The work that waits, after whose end the wait no longer counts; nil if a handler's run waits.
    let work: (any AwaitedWork)?
    let awaited: @Sendable () -> [Target]
  }

  private struct State {
    var lastID: UInt64 = 0
    var waits: [Node: [Wait]] = [:]

    mutating func begin(in context: HandlerContext, awaiting awaited: @escaping @Sendable () -> [Target]) -> WaitToken {
      lastID += 1
      let token = WaitToken(context: context, id: lastID)
      for (node, work) in token.nodes {
        waits[node, default: []].append(Wait(id: lastID, work: work, awaited: awaited))
      }
      return token
    }

    /// Returns whether a wait for the targets would, along the chain of waits, be a wait for the context itself.
    ///
    /// All that it comes to is appended to `targets`, which keeps it until after the lock: the last reference to a mailbox runs the
    /// program's code, and another object may get its address.
    func leads(from targets: inout [Target], to context: HandlerContext) -> Bool {
      var seen: Set<ObjectIdentifier> = []
      var index = 0
      while index < targets.count {
        let node: Node
        defer { index += 1 }
        switch targets[index] {
        case .mailbox(let mailbox):
          let id = ObjectIdentifier(mailbox)
          guard seen.insert(id).inserted, let number = mailbox.runUnderWay else { continue }
          if let run = context.run, run.mailbox === mailbox, run.number == number { return true }
          node = .run(id, number: number)
        case .work(let scope):
          guard seen.insert(ObjectIdentifier(scope)).inserted else { continue }
          if context.work?.scope === scope { return true }
          node = .work(of: ObjectIdentifier(scope))
        }
        for wait in waits[node] ?? [] where wait.work?.isUnderWay ?? true { targets += wait.awaited() }
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
    in context: HandlerContext?, awaiting awaited: @escaping @Sendable () -> [Target]
  ) -> WaitToken? {
    context.map { context in state.withLock { $0.begin(in: context, awaiting: awaited) } }
  }

  /// Begins a wait in a context for some targets; returns nil if it would close a circle.
  static func beginUnlessCircular(in context: HandlerContext, awaiting targets: [Target]) -> WaitToken? {
    search(from: targets, to: context) { state, leads in leads ? nil : state.begin(in: context) { targets } }
  }

  fileprivate static func end(_ token: WaitToken) {
    // Released after the lock.
    let former = state.withLock { state -> [Wait] in
      var former: [Wait] = []
      for (node, _) in token.nodes {
        guard let waits = state.waits[node] else { continue }
        let others = waits.filter { $0.id != token.id }
        state.waits[node] = others.isEmpty ? nil : others
        former += waits
      }
      return former
    }
    withExtendedLifetime(former) {}
  }

  /// Calls `add`, which adds a mailbox to a wait that has begun, unless that would close a circle.
  static func extend(waitIn context: HandlerContext?, by mailbox: AnyMailbox, _ add: () -> Void) {
    guard let context else { return add() }
    search(from: [.mailbox(mailbox)], to: context) { _, leads in if !leads { add() } }
  }

  /// Returns whether the present run of a handler waits, along the chain of waits, for the work of a scope.
  static func leads(from mailbox: AnyMailbox, to scope: WorkScope) -> Bool {
    search(from: [.mailbox(mailbox)], to: HandlerContext(run: nil, work: scope)) { $1 }
  }

  /// Runs `body` under the lock, with whether a wait for the targets would be one for the context.
  private static func search<Result>(
    from targets: [Target], to context: HandlerContext, _ body: (inout State, Bool) -> Result
  ) -> Result {
    var (targets, result) = (targets, Result?.none)
    state.withLock { state in result = body(&state, state.leads(from: &targets, to: context)) }
    withExtendedLifetime(targets) {}
    return result.unsafelyUnwrapped
  }
}

/// A handle for ending a wait in the graph.
package struct WaitToken: Sendable {
  /// The code that waits; kept alive, so that no other object gets the address of one of its nodes.
  fileprivate let context: HandlerContext
  fileprivate let id: UInt64

  /// The nodes that wait: the run, and the scope of the work.
  fileprivate var nodes: [(WaitGraph.Node, work: (any AwaitedWork)?)] {
    var nodes: [(WaitGraph.Node, work: (any AwaitedWork)?)] = []
    if let run = context.run { nodes.append((.run(ObjectIdentifier(run.mailbox), number: run.number), nil)) }
    if let work = context.work { nodes.append((.work(of: ObjectIdentifier(work.scope)), work)) }
    return nodes
  }

  /// Ends the wait.
  package func end() { WaitGraph.end(self) }
}
