// swift-format-ignore-file
// Client code as users would write it. It compiles unchanged against the package, without a warning, in Swift 6 mode.
import AppLifecycle
import PubSub

// MARK: Events: plain values; `BusEvent` from any thread, `MainActorEvent` on the main actor only

struct PriceDidChange: BusEvent, Equatable {  // its name: "PriceDidChange"
  let symbol: String
  let price: Int
}

struct SettingsDidChange: BusEvent, StickyEvent {  // a late subscriber with replay gets the latest
  static let name: EventName = "settings.didChange"  // a name that outlives renaming the type
  let currency: String
}

@MainActor final class Document {
  struct DidClose: MainActorEvent { let document: Document }  // nested in its sender, carries it
  let title: String
  let bus: EventBus
  init(title: String, bus: EventBus) { (self.title, self.bus) = (title, bus) }
  func close() { bus.post(DidClose(document: self), from: self) }  // handlers have run when this returns
}

// MARK: In a main-actor class

@MainActor final class TickerView {
  private(set) var lines: [String] = []
  private var subscriptions: Set<EventBus.Subscription> = []

  init(document: Document, application: Application) {
    let bus = application.bus
    // For an owner: weak, ends with it, nothing to store. A closure for a MainActorEvent is a main-actor closure.
    bus.subscribe(to: Application.DidBecomeActive.self, for: self) { view, event in
      view.lines.append("active, because of \(event.transition.cause.rawValue)")
    }
    bus.subscribe(to: Document.DidClose.self, for: self, from: document) { $0.close($1) }
    // A BusEvent may come from any thread: `receive` calls the handler later, here on the main actor, in posting order.
    bus.receive(PriceDidChange.self, for: self) { view, change in view.lines.append(change.symbol) }
    // Late, with replay: told the present state at once. A subscription without an owner is kept by the code that stores it.
    bus.subscribe(to: Application.StateDidChange.self, replay: .latest) { [weak self] change in
      self?.lines.append("now \(change.transition.to)")
    }.store(in: &subscriptions)
  }

  private func close(_ event: Document.DidClose) { lines.append("closed \(event.document.title)") }

  func follow(_ bus: EventBus) async {  // ends when its task is cancelled
    for await change in bus.events(PriceDidChange.self) { lines.append("\(change.price)") }
  }

  func sample(_ bus: EventBus) async {  // bounded: a drop is told where it happened
    for await received in bus.events(PriceDidChange.self, buffering: .bounded(64, dropping: .oldest)) {
      switch received {
      case .event(let change): lines.append("\(change.price)")
      case .missed(let count): lines.append("… \(count) missed …")
      }
    }
  }
}

// MARK: In an actor

actor PriceStore {
  private(set) var prices: [String: Int] = [:]

  init(bus: EventBus) {
    // Owned by an actor: the handler runs on it, without `await`. (In an actor's init only the owner form works.)
    bus.receive(PriceDidChange.self, for: self) { store, change in store.prices[change.symbol] = change.price }
    bus.receive(Application.DidReceiveMemoryWarning.self, for: self) { store, _ in store.purge() }
  }

  private func purge() { prices = [:] }
}

// MARK: Anywhere else

final class PriceFeed: Sendable {
  private let prices: EventBus.Topic<PriceDidChange>
  init(bus: EventBus) { prices = bus.topic() }  // a handle for the hot path
  func receive(_ symbol: String, _ price: Int) { prices.post(PriceDidChange(symbol: symbol, price: price), from: self) }
}

func audit(_ bus: EventBus) async {
  let everything = bus.subscribeToAll { event in print(type(of: event).name) }
  let named = bus.subscribeToAll(named: "settings.didChange", priority: .high) { event in print(event) }
  let settings = bus.receive(SettingsDidChange.self, label: "disk") { _ in try await Task.sleep(for: .seconds(60)) }
  let report = await bus.postAndWait(SettingsDidChange(currency: "EUR"), within: .seconds(2))
  for straggler in report.stragglers { print("\(straggler.subscriber) took longer than \(straggler.duration)") }
  for failure in report.failures { print("\(failure.subscriber): \(failure.outcome)") }
  for subscription in [everything, named, settings] { await subscription.cancelAndDrain() }
}

// MARK: A delegate, tear-down and rebuild. With `import UnixHost`, `@main` before it makes it the program.

struct Database: Sendable { func close() async {} }
struct Connection: Sendable {
  init(_ database: Database) async throws {}
  func close() async {}
}

@MainActor final class AppDelegate {
  private var connection: ManagedResource<Connection>?
  private var ticks = 0
  private(set) var status = ""

  private func tick(_ application: Application) async {
    while !Task.isCancelled {
      ticks += 1
      try? await application.clock.sleep(for: .seconds(1))
    }
  }
  private func save() async { status = connection?.current == nil ? "saved" : "saved, still connected" }
}

extension AppDelegate: ApplicationDelegate {  // in an extension the compiler warns of a method that nearly matches
  func applicationDidFinishLaunching(_ application: Application) {
    do {
      let database = try application.manage(
        "database", while: .running, acquire: { Database() }, release: { await $0.close() })
      connection = try application.manage("connection", while: .foreground, after: database) { database in
        self.status = "connecting"
        return try await Connection(database)
      } release: {
        await $0.close()
      }
    } catch {
      print(error)  // a ResourceError
    }
    application.task { await application.run(while: .active) { await self.tick(application) } }
  }

  func applicationDidEnterBackground(_ application: Application) {
    application.performBackgroundTask(named: "save") { await self.save() }
  }
}

// MARK: A value of the program's own around everything that the application calls

nonisolated enum Tenant { @TaskLocal static var name = "none" }

struct TenantBinding: CallInterceptor {
  let name: String

  func intercept<Result>(_ call: TracedCall, _ operation: () throws -> Result) rethrows -> Result {
    try Tenant.$name.withValue(name) { try operation() }
  }

  nonisolated(nonsending) func intercept<Result>(
    _ call: TracedCall, _ operation: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    try await Tenant.$name.withValue(name) { try await operation() }
  }
}
