import AppLifecycle
import AppLifecycleTesting
import PubSub
import Testing

/// Sources/NotificationCenterBridge/NotificationCenterBridge.docc/ComingFromNotificationCenter.md: the same scenarios at each step, with the same results.
@Suite @MainActor struct `On the way over` {
  @Test(arguments: [ShopStage.before, .step1])
  func `there are twenty classic observers`(stage: ShopStage) throws {
    #expect(try ShopRun(stage).program.observers.count == 20)
  }

  @Test func `the number of observers shrinks, and in the end there is neither an observer nor a bridge`() throws {
    let half = try ShopRun(.step2)
    #expect(half.program.observers.count == 7)
    let own = half.system?.bus.subscriptions.filter { $0.subscriber.label != "NotificationCenterBridge" }
    // And that to failures of the bridge.
    #expect(own?.count == 10 + 1)
    #expect(half.system?.application.resources.map(\.name) == ["connection"])
    let last = try ShopRun(.step3)
    #expect(last.program.observers.isEmpty && last.program.links.isEmpty)
    // Each observer has become a subscription, but five: two resources stand for them.
    #expect(last.system?.bus.subscriptions.count == 15)
    #expect(last.system?.application.resources.map(\.name) == ["connection", "ticker"])
  }

  // MARK: The life cycle

  @Test(arguments: ShopStage.allCases)
  func `a launch connects and starts the timer`(stage: ShopStage) async throws {
    let run = try ShopRun(stage)
    #expect(run.facts == ShopFacts())
    try await run.play(.launch)
    #expect(run.facts == ShopFacts(isConnected: true, connections: 1, isTicking: true))
  }

  @Test(arguments: ShopStage.allCases)
  func `home disconnects, stops the timer and saves`(stage: ShopStage) async throws {
    let run = try ShopRun(stage)
    try await run.play(.launch)
    run.program.order(1, at: run.parts.garden)
    try await run.play(.home)
    #expect(run.facts == ShopFacts(connections: 1, orders: [1], saved: [[1]], badge: 1, pending: 1))
  }

  @Test(arguments: ShopStage.allCases)
  func `the label is fresh after a day away, and the connection is a new one`(stage: ShopStage) async throws {
    let run = try ShopRun(stage)
    try await run.play(.launch, .home, .nextDay)
    #expect(run.facts.label == "day 1")
    try await run.play(.open)
    #expect(
      run.facts == ShopFacts(label: "day 2", isConnected: true, connections: 2, isTicking: true, saved: [[]]))
  }

  @Test(arguments: ShopStage.allCases)
  func `the label is fresh after midnight in the foreground`(stage: ShopStage) async throws {
    let run = try ShopRun(stage)
    try await run.play(.launch, .nextDay, .clockChange)
    #expect(run.facts.label == "day 2")
  }

  @Test(arguments: ShopStage.allCases)
  func `a memory warning empties the cache alone`(stage: ShopStage) async throws {
    let run = try ShopRun(stage)
    try await run.play(.launch)
    run.parts.cache.keep("bread")
    #expect(run.facts.cached == ["bread"])
    try await run.play(.memoryWarning)
    #expect(run.facts == ShopFacts(isConnected: true, connections: 1, isTicking: true))
  }

  @Test(arguments: ShopStage.allCases)
  func `the end disconnects, and saves twice`(stage: ShopStage) async throws {
    let run = try ShopRun(stage)
    try await run.play(.launch)
    run.program.order(1, at: run.parts.garden)
    try await run.play(.terminate)
    #expect(run.facts == ShopFacts(connections: 1, orders: [1], saved: [[1], [1]], badge: 1, pending: 1))
  }

  // MARK: The shop's own

  @Test(arguments: ShopStage.allCases)
  func `an order reaches the list, the badge, the queue and the printer of its till`(stage: ShopStage) async throws {
    let run = try ShopRun(stage)
    try await run.play(.launch)
    run.program.order(1, at: run.parts.counter)
    run.program.order(2, at: run.parts.garden)
    run.program.order(3, at: run.parts.counter)
    run.program.cancelOrder(2)
    #expect(
      run.facts
        == ShopFacts(
          isConnected: true, connections: 1, isTicking: true, orders: [1, 3], badge: 3, receipts: [1, 3], pending: 3))
    try await run.play(.home, .open)
    #expect(run.facts.badge == 0 && run.facts.saved == [[1, 3]])
  }

  @Test(arguments: ShopStage.allCases)
  func `the end of a synchronization is posted on another thread`(stage: ShopStage) async throws {
    let run = try ShopRun(stage)
    try await run.play(.launch)
    for id in 1...3 { run.program.order(id, at: run.parts.garden) }
    await run.program.endSync(of: [1, 2])
    #expect(run.facts.pending == 1)
  }

  @Test(arguments: ShopStage.allCases)
  func `signing out ends the session and empties the cache`(stage: ShopStage) async throws {
    let run = try ShopRun(stage)
    try await run.play(.launch)
    run.program.signIn("Ada")
    run.parts.cache.keep("bread")
    #expect(run.facts.user == "Ada" && run.facts.cached == ["bread"])
    run.program.signOut()
    #expect(run.facts == ShopFacts(isConnected: true, connections: 1, isTicking: true))
  }

  // MARK: Order

  @Test(arguments: ShopStage.allCases)
  func `each component hears of orders in the order of posting`(stage: ShopStage) async throws {
    let run = try ShopRun(stage)
    try await run.play(.launch)
    for id in 1...50 { run.program.order(id, at: run.parts.counter) }
    for component in ["list", "badge", "printer"] {
      #expect(run.log.filter { $0.hasPrefix(component) } == (1...50).map { "\(component) \($0)" })
    }
  }

  /// A notification center promises no order among the observers of one notification.
  @Test func `in the end the components hear of an order in the order in which they subscribed`() async throws {
    let run = try ShopRun(.step3)
    run.program.order(1, at: run.parts.counter)
    #expect(run.log == ["list 1", "badge 1", "printer 1"])
  }

  /// Where the connection is managed, as its release begins after all handlers, the bridge's included; and where the saver subscribes,
  /// as the bridge was there before, and this event is delivered in reverse.
  @Test(arguments: [
    [.connection], [.saver], [.connection, .saver], ShopStage.step2.cameOver, ShopStage.step3.cameOver,
  ])
  func `the program saves while it is connected`(cameOver: Set<ShopPart>) async throws {
    let run = try ShopRun(cameOver: cameOver)
    try await run.play(.launch, .home)
    #expect(run.log == ["open", "save", "close"])
  }

  // MARK: Whatever comes over first

  /// Each part as the only one that is over, and as the only one that is not; and one after another.
  nonisolated private static let mixtures: [Set<ShopPart>] = {
    let all = ShopPart.allCases
    return all.map { [$0] } + all.map { Set(all).subtracting([$0]) } + all.indices.dropFirst().map { Set(all[...$0]) }
  }()

  @Test(arguments: mixtures)
  func `the parts may come over in any order`(cameOver: Set<ShopPart>) async throws {
    let run = try ShopRun(cameOver: cameOver)
    try await run.play(.launch)
    run.program.signIn("Ada")
    run.program.order(1, at: run.parts.counter)
    run.program.order(2, at: run.parts.garden)
    await run.program.endSync(of: [1])
    run.parts.cache.keep("bread")
    try await run.play(.home, .nextDay, .open, .memoryWarning)
    run.program.cancelOrder(1)
    run.program.signOut()
    try await run.play(.terminate)
    #expect(
      run.facts
        == ShopFacts(
          label: "day 2", connections: 2, orders: [2], saved: [[1, 2], [2], [2]], receipts: [1], pending: 1))
    #expect(run.program.failures.all.isEmpty)
  }
}
