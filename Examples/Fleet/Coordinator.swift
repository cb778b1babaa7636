import AppLifecycle
import EventLink
import ExampleSupport
import PubSub

/// Places orders, gives each to a worker that runs, and gives it to another one if that worker ends first.
@MainActor final class Coordinator {
  private let bus: EventBus
  private let fleet = Fleet()
  private let link: EventLink
  /// The orders that are not done, with the workers that have them; nil for an order that no worker has.
  private var open: [Int: String?] = [:]
  private var (placed, done) = (0, 0)

  init(_ application: Application, _ transport: any LinkTransport) throws {
    bus = application.bus
    let fleet = fleet
    link = try EventLink(of: application, to: transport) { link in
      try link.send(OrderPlaced.self, as: Topic.placed, quality: .atLeastOnce)
      try link.receive(OrderDone.self, as: Topic.done)
      try link.announceLifeCycle(as: Topic.fleet("coordinator"))
      try link.follow(fleet, on: Topic.fleet)
    }
    let broker = try link.manage(in: application, while: .running)
    bus.receive(OrderDone.self, for: self) { coordinator, order in coordinator.isDone(order) }
    bus.subscribe(to: Fleet.MemberDidChange.self, for: self) { coordinator, change in
      coordinator.memberDidChange(change)
    }
    let clock = application.clock
    application.run(self, while: .running, after: broker) { coordinator, _ in
      while !Task.isCancelled {
        coordinator.place()
        try await clock.sleep(for: .milliseconds(500))
      }
    }
  }

  private var workers: [String] {
    fleet.members.filter { member in
      if case .running = member.state { member.id.contains("worker") } else { false }
    }
    .map(\.id)
  }

  private func place() {
    placed += 1
    open.updateValue(nil, forKey: placed)
    assign()
  }

  /// Gives each order that no worker has to one that runs, in turn.
  private func assign() {
    let workers = workers
    guard !workers.isEmpty else { return }
    for id in open.keys.sorted() where open[id] == .some(nil) {
      let worker = workers[id % workers.count]
      open.updateValue(worker, forKey: id)
      bus.post(OrderPlaced(id: id, worker: worker))
    }
  }

  private func isDone(_ order: OrderDone) {
    // An order that was given away again may be done twice.
    guard open.removeValue(forKey: order.id) != nil else { return }
    done += 1
    let text = "order \(order.id) is done by \(order.worker.escaped), \(open.count) are open\n"
    _ = StandardOutput.write(text, for: "Fleet")
  }

  private func memberDidChange(_ change: Fleet.MemberDidChange) {
    guard let member = change.member, member.id.contains("worker") else { return }
    _ = StandardOutput.write("\(member.id.escaped) is \("\(member.state)".escaped)\n", for: "Fleet")
    // One that was started again has forgotten its orders.
    if case .running = member.state, change.former?.birth == member.birth { return assign() }
    for id in open.keys where open[id] == member.id { open.updateValue(nil, forKey: id) }
    assign()
  }
}
