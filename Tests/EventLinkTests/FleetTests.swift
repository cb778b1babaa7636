import AppLifecycle
import AppLifecycleTesting
import EventLink
import PubSub
import TestTraits
import Testing

@MainActor @Suite(.timeLimit(.hang)) struct `A fleet` {
  private let broker = MemoryBroker()
  private let fleet = Fleet()

  /// The changes that the watcher's bus has posted, as text.
  @MainActor private final class Changes {
    private(set) var lines: [String] = []

    init(of process: Process) {
      process.bus.subscribe(to: Fleet.MemberDidChange.self, for: self) { changes, change in
        let (topic, now) = (change.member?.id ?? change.former?.id ?? "", change.member?.state.description ?? "gone")
        changes.lines.append("\(topic) \(change.former?.state.description ?? "new") → \(now)")
      }
    }

    func take() -> [String] {
      defer { lines = [] }
      return lines
    }
  }

  private func watcher() throws -> Process {
    try Process(broker.transport()) { try $0.follow(fleet, on: "shop/+") }
  }

  private func member(_ name: String, while phase: LifecyclePhase = .foreground) throws -> Process {
    try Process(broker.transport(), while: phase) { try $0.announceLifeCycle(as: "shop/\(name)") }
  }

  private func settle(_ processes: Process...) async throws {
    for _ in 0..<3 { for process in processes { try await process.system.play("wait:1s") } }
  }

  @Test func `reads no observable property, after which each change would cost more`() async throws {
    let (watcher, till) = (try watcher(), try member("till"))
    for process in [watcher, till] { try await process.system.play("launch") }
    try await settle(watcher, till)
    #expect(fleet.members.count == 1)
    #expect(!watcher.system.application.isObserved && !till.system.application.isObserved)
  }

  @Test func `hears nothing more once its link is gone`() async throws {
    let (watcher, till) = (try watcher(), try member("till"))
    for process in [watcher, till] { try await process.system.play("launch") }
    let gone = Fleet()
    do {
      let link = try EventLink(of: watcher.system.application, to: broker.transport()) {
        try $0.follow(gone, on: "shop/+")
      }
      try await link.open()
      try await settle(watcher, till)
      #expect(gone.members.count == 1)
      await link.close()
    }
    try await till.system.play("quit")
    try await settle(watcher, till)
    #expect(fleet.members.map(\.state) == [.ended(status: 0)])
    #expect(gone.members.map(\.state) == [.running(.active)])
  }

  @Test func `shows a process that appears, leaves, is suspended, comes back and ends`() async throws {
    let (watcher, till) = (try watcher(), try member("till"))
    let changes = Changes(of: watcher)
    try await watcher.system.play("launch")
    try await till.system.play("launch")
    try await settle(watcher, till)
    #expect(changes.take() == ["shop/till new → active"])
    try await till.system.play("interrupt:call")
    try await settle(watcher, till)
    #expect(changes.take() == ["shop/till active → inactive"])
    try await till.system.play("end:call; home")
    try await settle(watcher)
    #expect(changes.take().last == "shop/till inactive → background")
    try await till.system.play("open")
    try await settle(watcher, till)
    #expect(changes.take() == ["shop/till background → active"])
    _ = await till.system.application.suspend().value
    try await settle(watcher)
    #expect(changes.take().last == "shop/till background → suspended")
    try await till.system.play("open; quit")
    try await settle(watcher)
    #expect(changes.take().last == "shop/till background → ended (0)")
  }

  @Test func `shows a process that vanished, also to a link that is opened later`() async throws {
    let (watcher, till) = (try watcher(), try member("till", while: .running))
    try await till.system.play("launch")
    broker.cutConnections()
    try await watcher.system.play("launch; wait:1s")
    #expect(fleet.members.map(\.state) == [.vanished])
    // The process lives, and has lost its connection alone.
    for _ in 0..<5 { try await settle(till, watcher) }
    #expect(fleet.members.map(\.state) == [.running(.active)])
  }

  /// The broker notices late that an earlier connection is lost.
  @Test func `does not take a late will for the end of a newer life`() async throws {
    let (watcher, till) = (try watcher(), try member("till", while: .running))
    try await till.system.play("launch; wait:1s")
    let will = try #require(broker.wills.first)
    broker.isDown = true
    broker.isDown = false
    for _ in 0..<5 { try await settle(till) }
    try await watcher.system.play("launch; wait:1s")
    broker.publish(will)
    try await settle(watcher, till)
    #expect(fleet.members.map(\.state) == [.running(.active)])
    // The broker has the truth again for links that are opened later.
    let other = Fleet()
    let later = try Process(broker.transport()) { try $0.follow(other, on: "shop/#") }
    try await later.system.play("launch; wait:1s")
    #expect(other.members.map(\.state) == [.running(.active)])
  }

  /// The broker may not have seen that the connection ended in order.
  @Test func `does not take a will for the end of a process that has left`() async throws {
    let (watcher, till) = (try watcher(), try member("till"))
    try await watcher.system.play("launch")
    try await till.system.play("launch; wait:1s")
    let will = try #require(broker.wills.first)
    try await till.system.play("home")
    broker.publish(will)
    try await settle(watcher)
    #expect(fleet.members.map(\.state) == [.running(.background)])
  }

  /// The births of two connections would be one to a fleet, and the will of one would say nothing.
  @Test func `has one announcement of a process on a topic`() async throws {
    let till = try member("till", while: .running)
    try await till.system.play("launch; wait:1s")
    let second = try EventLink(of: till.system.application, to: MemoryBroker().transport()) {
      try $0.announceLifeCycle(as: "shop/till")
    }
    await #expect(throws: LinkError.announcesAlready(as: "shop/till")) { try await second.open() }
    await till.link.close()
    try await second.open()
    await second.close()
  }

  /// The broker keeps what came last, and the will of a crash must name the same connection.
  @Test func `announces nothing of a connection that was lost over another link (13)`() async throws {
    let till = try Process(MemoryBroker().transport()) { _ in }
    let links = try (0..<2).map { _ in
      try EventLink(of: till.system.application, to: broker.transport()) { try $0.announceLifeCycle(as: "shop/till") }
    }
    try await till.system.play("launch")
    try await links[1].open()
    broker.cutConnections()
    try await till.system.play("wait:1s")
    await #expect(throws: LinkError.connectionEnded(reason: "the connection was cut")) { try await links[1].run() }
    await links[1].close()
    try await links[0].open()
    try await till.system.play("interrupt:call; wait:1s")
    func birth(_ message: LinkMessage?) -> Substring? {
      let text = String(decoding: message?.payload ?? [], as: UTF8.self)
      return text.split(separator: #""birth":""#).last?.prefix { $0 != "\"" }
    }
    let present = try #require(birth(broker.retained["shop/till"]))
    #expect(present == birth(broker.wills.first))
  }

  /// The life of which the fleet hears only this came and went while its link was down.
  @Test(arguments: ["quit", "crash"])
  func `shows that a process has vanished that started again while the fleet's link was down (13)`(end: String)
    async throws
  {
    let watcher = try Process(broker.transport(), while: .foreground) { try $0.follow(fleet, on: "shop/+") }
    let till = try member("till", while: .running)
    for process in [watcher, till] { try await process.system.play("launch") }
    if end == "quit" { try await till.system.play("quit") }
    try await settle(watcher)
    let former = try #require(fleet.members.first)
    try await watcher.system.play("home")
    #expect(!fleet.isCurrent)
    if end == "crash" { try await till.system.play("crash") }
    let second = try member("till", while: .running)
    try await second.system.play("launch; wait:1s; crash")
    try await watcher.system.play("open; wait:1s")
    #expect(fleet.members.map(\.state) == [.vanished])
    #expect(fleet.members.first?.birth != former.birth)
  }

  @Test func `shows the process itself, and not its former life`() async throws {
    func start() throws -> Process {
      try Process(broker.transport()) { link in
        try link.announceLifeCycle(as: "shop/till")
        try link.follow(fleet, on: "shop/+")
      }
    }
    let first = try start()
    try await first.system.play("launch; wait:1s")
    #expect(fleet.members.map(\.state) == [.running(.active)])
    broker.cutConnections()
    let second = try start()
    try await second.system.play("launch; wait:1s")
    #expect(fleet.members.map(\.state) == [.running(.active)])
  }

  /// A broker without a disk forgets what was announced, and sends no wills as it ends.
  @Test func `shows that a process died while the broker was down, and not that one left before (13)`() async throws {
    let watcher = try watcher()
    let (dead, alive) = (try member("dead", while: .running), try member("alive", while: .running))
    let (away, asleep) = (try member("away"), try member("asleep"))
    for process in [watcher, dead, alive, away, asleep] { try await process.system.play("launch") }
    try await away.system.play("home")
    _ = await asleep.system.application.suspend().value
    try await settle(watcher, dead, alive, away)
    func states() -> [String] { fleet.members.map { "\($0.id.dropFirst(5)) \($0.state)" } }
    let before = ["alive active", "asleep suspended", "away background", "dead active"]
    #expect(states() == before)
    broker.isDown = true
    for topic in broker.retained.keys.sorted() {
      broker.publish(LinkMessage(topic: topic, payload: [], quality: .atLeastOnce, isRetained: true))
    }
    try await settle(watcher, alive)
    broker.isDown = false
    let changes = Changes(of: watcher)
    for _ in 0..<5 { try await settle(watcher, alive) }
    #expect(fleet.isCurrent && states() == before)
    for _ in 0..<10 { try await settle(watcher, alive) }
    #expect(states() == ["alive active", "asleep suspended", "away background", "dead vanished"])
    #expect(changes.take().last == "shop/dead active → vanished")
    // It was only cut off.
    for _ in 0..<5 { try await settle(dead, watcher) }
    #expect(states() == before)
  }

  /// A process of a later version is alive, whatever its state is called.
  @Test func `takes no process for vanished whose state it does not know (13)`() async throws {
    let (watcher, till) = (try watcher(), try member("till", while: .running))
    for process in [watcher, till] { try await process.system.play("launch; wait:1s") }
    broker.isDown = true
    broker.publish(LinkMessage(topic: "shop/till", payload: [], quality: .atLeastOnce, isRetained: true))
    try await settle(watcher)
    broker.isDown = false
    for _ in 0..<5 { try await settle(watcher) }
    func announce(_ state: String) {
      let data = #"{"state":"\#(state)","birth":"1","time":"2026-01-01T00:00:00Z"}"#
      let type = "swift-app-lifecycle.fleet.state"
      let event = #"{"specversion":"1.0","id":"\#(state)","source":"till","type":"\#(type)","data":\#(data)}"#
      broker.publish(LinkMessage(topic: "shop/till", payload: Array(event.utf8), quality: .atLeastOnce))
    }
    announce("dreaming")
    try await watcher.system.play("wait:1m")
    #expect(fleet.isCurrent && fleet.members.map(\.state) == [.running(.active)])
    // Its will is that of a connection that the fleet knows.
    announce("vanished")
    try await watcher.system.play("wait:1s")
    #expect(fleet.members.map(\.state) == [.vanished])
  }

  /// One character may have any number of accents.
  @Test func `keeps little of what a process says about itself (12)`() async throws {
    let watcher = try watcher()
    try await watcher.system.play("launch; wait:1s")
    let text = "a" + String(repeating: "\u{301}", count: 100_000)
    for state in ["active", "vanished"] {
      let data = #"{"state":"\#(state)","cause":"\#(text)","birth":"\#(text)","time":"2026-01-01T00:00:00Z"}"#
      let event =
        #"{"specversion":"1.0","id":"\#(state)","source":"till","type":"swift-app-lifecycle.fleet.state","data":\#(data)}"#
      broker.publish(LinkMessage(topic: "shop/till", payload: Array(event.utf8), quality: .atLeastOnce))
    }
    try await watcher.system.play("wait:1s")
    let member = try #require(fleet.members.first)
    #expect(member.state == .vanished)
    for text in [member.cause ?? "", member.birth] { #expect(text.unicodeScalars.count == 201) }
  }

  /// The processes have no reason to announce anything again.
  @Test func `keeps what the broker announces again after the fleet's own link was down (13)`() async throws {
    let (watcher, till) = (try Process(broker.transport()) { _ in }, try member("till", while: .running))
    let seeing = try EventLink(of: watcher.system.application, to: broker.transport()) { link in
      try link.follow(fleet, on: "shop/+")
    }
    for process in [watcher, till] { try await process.system.play("launch; wait:1s") }
    try await seeing.open()
    try await watcher.system.play("wait:1s")
    let closing = Task { await seeing.close() }
    try await watcher.system.play("wait:1s")
    await closing.value
    #expect(!fleet.isCurrent)
    try await seeing.open()
    try await watcher.system.play("wait:1m")
    #expect(fleet.isCurrent && fleet.members.map(\.state) == [.running(.active)])
  }

  /// The broker has not lost anything: only the watcher's own link was down.
  @Test func `keeps what the broker still announces (13)`() async throws {
    let (watcher, till) = (try watcher(), try member("till", while: .running))
    for process in [watcher, till] { try await process.system.play("launch; wait:1s") }
    _ = await watcher.system.application.suspend().value
    try await watcher.system.play("open; wait:1m")
    #expect(fleet.isCurrent && fleet.members.map(\.state) == [.running(.active)])
  }

  @Test func `is current while its link is open`() async throws {
    let watcher = try watcher()
    #expect(!fleet.isCurrent)
    try await watcher.system.play("launch; wait:1s")
    #expect(fleet.isCurrent)
    broker.isDown = true
    try await settle(watcher)
    #expect(!fleet.isCurrent)
  }
}
