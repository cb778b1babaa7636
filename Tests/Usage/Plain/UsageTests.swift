import AppLifecycle
import AppLifecycleTesting
import PubSub
import Testing

/// That it compiles, unchanged and without a warning, is half of the test; this is the other half.
@MainActor @Suite struct `Client code` {
  @Test func `follows the application, the document and the prices`() async throws {
    let system = SimulatedSystem()
    let bus = system.bus
    let document = Document(title: "Letter", bus: bus)
    let view = TickerView(document: document, application: system.application)
    let store = PriceStore(bus: bus)
    let feed = PriceFeed(bus: bus)
    try await system.play("launch")
    document.close()
    Document(title: "Other", bus: bus).close()
    feed.receive("SWFT", 42)
    await system.clock.settle()
    #expect(view.lines == ["now inactive", "now active", "active, because of launch", "closed Letter", "SWFT"])
    #expect(await store.prices == ["SWFT": 42])
    try await system.play("memory")
    #expect(await store.prices == [:])
  }

  @Test func `saves when it leaves, connects when it comes, and ticks while it is active`() async throws {
    let delegate = AppDelegate()
    let system = SimulatedSystem { delegate }
    let application = system.application
    try await system.play("launch")
    #expect(delegate.status == "connecting")
    #expect(application.resources.map(\.status) == [.held, .held])
    try await system.play("home; wait:1s")
    #expect(delegate.status.hasPrefix("saved"))
    #expect(application.resources.map(\.status) == [.held, .idle])
    try await system.play("kill")
    #expect(application.resources.map(\.status) == [.idle, .idle])
  }

  @Test func `learns which handler was slow`() async {
    let system = SimulatedSystem()
    await system.clock.running { [bus = system.bus] in await audit(bus) }
    #expect(system.bus.subscriptions.isEmpty)
  }

  @Test func `binds a value around what the application calls`() async throws {
    var configuration = Application.Configuration()
    configuration.interceptors = [TenantBinding(name: "acme")]
    let system = SimulatedSystem(configuration: configuration)
    var tenants: [String] = []
    try system.application.manage("feed", while: .running) { tenants.append(Tenant.name) }
    try await system.play("launch")
    #expect(tenants == ["acme"])
  }
}
