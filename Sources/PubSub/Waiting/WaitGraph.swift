/// Which runs of handlers wait for which receivers, so that no wait begins that could never end.
///
/// Nodes are receivers; the run under way at one leads to those for which it waits. A circle can be closed only by a wait that
/// begins inside a handler, so that is when it is looked for. One graph for all buses, as a handler on one may wait for
/// another. Waits inside handlers are rare, so it is one lock; a mailbox's state is not locked within it.
enum WaitGraph {
  fileprivate struct Run: Hashable {
    let receiver: ObjectIdentifier
    let number: UInt64

    init(_ receiver: any AsynchronousReceiver, _ number: UInt64) {
      (self.receiver, self.number) = (ObjectIdentifier(receiver), number)
    }
  }

  private struct Wait {
    let id: UInt64
    let awaited: @Sendable () -> [any AsynchronousReceiver]
  }

  private struct State {
    var lastID: UInt64 = 0
    var waits: [Run: [Wait]] = [:]

    mutating func begin(
      in run: HandlerRun, awaiting awaited: @escaping @Sendable () -> [any AsynchronousReceiver]
    ) -> Token {
      lastID += 1
      let token = Token(run: Run(run.receiver, run.number), id: lastID)
      waits[token.run, default: []].append(Wait(id: lastID, awaited: awaited))
      return token
    }

    /// Whether a wait for the receiver is, along the chain of waits, a wait for the run.
    func leads(from receiver: any AsynchronousReceiver, to run: HandlerRun) -> Bool {
      var next = [receiver]
      var seen: Set<ObjectIdentifier> = []
      while let receiver = next.popLast() {
        guard seen.insert(ObjectIdentifier(receiver)).inserted, let number = receiver.runUnderWay else { continue }
        if receiver === run.receiver, number == run.number { return true }
        for wait in waits[Run(receiver, number)] ?? [] { next += wait.awaited() }
      }
      return false
    }
  }

  private static let state = Guarded(State())

  /// A wait that has been told to the graph, for its end.
  struct Token {
    fileprivate let run: Run
    fileprivate let id: UInt64
  }

  /// A wait inside a run begins; nil outside a handler.
  ///
  /// It waits for the receivers that `awaited` returns at that moment.
  static func begin(
    in run: HandlerRun?, awaiting awaited: @escaping @Sendable () -> [any AsynchronousReceiver]
  ) -> Token? {
    guard let run else { return nil }
    return state.withLock { $0.begin(in: run, awaiting: awaited) }
  }

  /// A wait inside a run for one receiver begins; nil if it would close a circle.
  static func begin(in run: HandlerRun, awaiting receiver: any AsynchronousReceiver) -> Token? {
    state.withLock { state in
      state.leads(from: receiver, to: run) ? nil : state.begin(in: run) { [receiver] }
    }
  }

  static func end(_ token: Token?) {
    guard let token else { return }
    let ended = state.withLock { state -> [Wait] in
      guard let waits = state.waits[token.run] else { return [] }
      let others = waits.filter { $0.id != token.id }
      state.waits[token.run] = others.isEmpty ? nil : others
      return waits
    }
    withExtendedLifetime(ended) {}
  }

  /// A wait that has begun is extended by a receiver, with `extend`, whose result is returned; nil if that would close a
  /// circle.
  static func extend<Result: Sendable>(
    waitIn run: HandlerRun?, by receiver: any AsynchronousReceiver, _ extend: () -> Result
  ) -> Result? {
    guard let run else { return extend() }
    return state.withLock { state in state.leads(from: receiver, to: run) ? nil : extend() }
  }
}
