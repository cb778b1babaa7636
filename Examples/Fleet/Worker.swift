import AppLifecycle
import EventLink
import PubSub

/// Does the orders that it is given, one after another; before it ends it does those that it has.
@MainActor final class Worker {
  private let name: String
  private let link: EventLink
  /// The orders that are not done.
  private var orders: [OrderPlaced] = []
  /// Tells the body that there is an order.
  private var wake: AsyncStream<Void>.Continuation?

  init(_ number: String, _ application: Application, _ transport: any LinkTransport) throws {
    name = Topic.fleet("worker-\(number)")
    let name = name
    link = try EventLink(of: application, to: transport) { link in
      try link.receive(OrderPlaced.self, as: Topic.placed)
      try link.send(OrderDone.self, as: Topic.done, quality: .atLeastOnce)
      try link.announceLifeCycle(as: name)
    }
    let broker = try link.manage(in: application, while: .running)
    application.bus.receive(OrderPlaced.self, for: self) { worker, order in
      guard order.worker == worker.name else { return }
      worker.orders.append(order)
      worker.wake?.yield()
    }
    // The link is released after this body, and sends what the last orders have posted. The body also ends when the connection breaks, and
    // begins again with the next one.
    let (bus, clock) = (application.bus, application.clock)
    application.run(self, while: .running, after: broker) { worker, _ in
      let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
      worker.wake = wake
      wake.yield()
      await withPhaseClosingHandler {
        for await _ in wakes { await worker.doOrders(bus, clock) }
      } onClose: {
        wake.finish()
      }
    }
  }

  /// Does the orders; one that is interrupted, because the time for ending is up, is not done.
  private func doOrders(_ bus: EventBus, _ clock: ApplicationClock) async {
    while let order = orders.first, (try? await clock.sleep(for: .milliseconds(200))) != nil {
      orders.removeFirst()
      bus.post(OrderDone(id: order.id, worker: name))
    }
  }
}
