/// Which code waits for what, so that no wait begins that could never end.
///
/// Nodes are receivers and owners of work. The run under way at a receiver leads to what that run waits for; an owner leads to
/// what its work under way waits for. A circle can be closed only by a wait that begins inside a handler or inside work, so the
/// graph is searched then. There is one graph for all buses, as a handler on one may wait for another. Such waits are rare, so
/// one lock guards the graph; a mailbox's state is not locked within it.
enum WaitGraph {
  /// What can be waited for.
  enum Target {
    /// The handler of a mailbox.
    case receiver(any AsynchronousReceiver)
    /// All work of an owner.
    case owner(WorkOwner)
  }

  fileprivate enum Node: Hashable {
    case run(ObjectIdentifier, number: UInt64)
    case owner(ObjectIdentifier)
  }

  private struct Wait {
    let id: UInt64
    /// The work that waits, nil for the wait of a handler's run.
    ///
    /// Its owner waits along with it only until the work has ended.
    let work: (any AwaitedWork)?
    let awaited: @Sendable () -> [Target]
  }

  private struct State {
    var lastID: UInt64 = 0
    var waits: [Node: [Wait]] = [:]

    mutating func begin(in context: HandlerContext, awaiting awaited: @escaping @Sendable () -> [Target]) -> WaitToken {
      lastID += 1
      let token = WaitToken(context: context, id: lastID)
      if let node = token.run { waits[node, default: []].append(Wait(id: lastID, work: nil, awaited: awaited)) }
      if let node = token.owner {
        waits[node, default: []].append(Wait(id: lastID, work: context.work, awaited: awaited))
      }
      return token
    }

    /// Whether a wait for the targets is, along the chain of waits, a wait for the context.
    func leads(from targets: [Target], to context: HandlerContext) -> Bool {
      var next = targets
      var seen: Set<ObjectIdentifier> = []
      while let target = next.popLast() {
        let node: Node
        switch target {
        case .receiver(let receiver):
          let id = ObjectIdentifier(receiver)
          guard seen.insert(id).inserted, let number = receiver.runUnderWay else { continue }
          if let run = context.run, run.receiver === receiver, run.number == number { return true }
          node = .run(id, number: number)
        case .owner(let owner):
          guard seen.insert(ObjectIdentifier(owner)).inserted else { continue }
          if context.work?.owner === owner { return true }
          node = .owner(ObjectIdentifier(owner))
        }
        for wait in waits[node] ?? [] where wait.work?.isUnderWay ?? true { next += wait.awaited() }
      }
      return false
    }
  }

  private static let state = Guarded(State())

  /// Begins the wait of a post made in a context; nil outside a handler and outside work.
  ///
  /// It waits for the receivers that `awaited` returns at that moment.
  static func begin(
    in context: HandlerContext?, awaiting awaited: @escaping @Sendable () -> [any AsynchronousReceiver]
  ) -> WaitToken? {
    guard let context else { return nil }
    return state.withLock { $0.begin(in: context) { awaited().map { .receiver($0) } } }
  }

  /// Begins a wait in a context for some targets; nil if it would close a circle.
  static func begin(in context: HandlerContext, awaiting targets: [Target]) -> WaitToken? {
    state.withLock { state in
      state.leads(from: targets, to: context) ? nil : state.begin(in: context) { targets }
    }
  }

  fileprivate static func end(_ token: WaitToken) {
    let ended = state.withLock { state -> [Wait] in
      var ended: [Wait] = []
      for node in [token.run, token.owner].compactMap(\.self) {
        guard let waits = state.waits[node] else { continue }
        let others = waits.filter { $0.id != token.id }
        state.waits[node] = others.isEmpty ? nil : others
        ended += waits
      }
      return ended
    }
    withExtendedLifetime(ended) {}
  }

  /// A wait that has begun is extended by a receiver, with `extend`, whose result is returned; nil if that would close a
  /// circle.
  static func extend<Result: Sendable>(
    waitIn context: HandlerContext?, by receiver: any AsynchronousReceiver, _ extend: () -> Result
  ) -> Result? {
    guard let context else { return extend() }
    return state.withLock { state in state.leads(from: [.receiver(receiver)], to: context) ? nil : extend() }
  }

  /// Whether the handler that runs at a receiver waits, along the chain of waits, for the work of an owner.
  static func leads(from receiver: any AsynchronousReceiver, to owner: WorkOwner) -> Bool {
    state.withLock { $0.leads(from: [.receiver(receiver)], to: HandlerContext(run: nil, work: owner)) }
  }
}

/// A wait that the graph knows, for its end.
package struct WaitToken: Sendable {
  /// What waits; kept, so that no other object can come to lie at the address of one of its nodes.
  fileprivate let context: HandlerContext
  fileprivate let id: UInt64

  fileprivate var run: WaitGraph.Node? {
    context.run.map { .run(ObjectIdentifier($0.receiver), number: $0.number) }
  }

  fileprivate var owner: WaitGraph.Node? { context.work.map { .owner(ObjectIdentifier($0.owner)) } }

  /// Ends the wait.
  package func end() { WaitGraph.end(self) }
}
