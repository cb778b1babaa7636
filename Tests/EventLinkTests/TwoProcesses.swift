import AppLifecycle
import AppLifecycleTesting
import EventLink
import PubSub
import Synchronization

struct OrderPlaced: BusEvent, Codable, Hashable { var id: Int }
struct LabelDidChange: MainActorEvent, Codable { var text: String }
struct Temperature: BusEvent, StickyEvent, Codable { var degrees: Int }

/// A program that does nothing of its own.
final class Bare: ApplicationDelegate {}

/// An application with one link, and the events that came to its bus.
@MainActor final class Process {
  let system = SimulatedSystem()
  let link: EventLink
  private let seen = Mutex<[String]>([])
  private var subscriptions: [EventBus.Subscription] = []

  var bus: EventBus { system.bus }

  init(
    _ transport: any LinkTransport, while phase: LifecyclePhase = .running, options: EventLink.Options = .init(),
    _ declare: (inout EventLink.Declarations) throws -> Void
  ) throws {
    link = try EventLink(of: system.application, to: transport, options: options, declare)
    let link = link
    try system.application.manage("broker", while: phase) {
      try await link.open()
    } run: {
      try await link.run()
    } release: {
      await link.close()
    }
    subscriptions = [
      bus.subscribe(to: OrderPlaced.self) { [weak self] in self?.note("order \($0.id)") },
      bus.subscribe(to: Temperature.self) { [weak self] in self?.note("\($0.degrees) degrees") },
      bus.subscribe(to: LabelDidChange.self) { [weak self] in self?.note("label \($0.text)") },
      bus.subscribe(to: EventLink.DidMiss.self) { [weak self] in self?.note("missed \($0.count) of \($0.topic)") },
      bus.subscribe(to: EventLink.DidDrop.self) { [weak self] in self?.note("dropped \($0.count) of \($0.topic)") },
      bus.subscribe(to: EventLink.DidReject.self) { [weak self] in self?.note("rejected \($0.topic): \($0.reason)") },
      bus.subscribe(to: EventBus.HandlerFailure.self) { [weak self] in
        if case LinkError.notSent(let count)? = $0.error as? LinkError { self?.note("lost \(count) at the end") }
      },
      bus.subscribe(to: EventLink.DidAcknowledge.self) { [weak self] in
        self?.note("acknowledged \($0.number) of \($0.topic)")
      },
    ]
  }

  nonisolated private func note(_ line: String) { seen.withLock { $0.append(line) } }

  /// Returns and forgets what came.
  func take() -> [String] {
    seen.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }
}
