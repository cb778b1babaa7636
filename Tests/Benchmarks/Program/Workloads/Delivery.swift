import BenchmarkHarness
import Foundation
import PubSub

extension Section {
  /// Posts events to asynchronous subscribers, until the last of them has the last event.
  static func delivery(_ scale: Scale) -> Section {
    Section(
      name: "delivery", title: "Delivery to asynchronous consumers, none lost, ns a delivery",
      rounds: scale.longRounds * 2,
      judgements: [fasterThanStream(1, 5, aim: 8), fasterThanStream(10, 10, aim: 18)]
    ) {
      [1, 10].flatMap { count in
        let events = scale.asynchronousEvents
        func contestant(_ column: String, _ row: String, _ run: @escaping (Consumers) -> Void) -> Contestant {
          Contestant(column, row: row) {
            let consumers = Consumers(count: count, events: events)
            run(consumers)
            return try consumers.elapsed("\(column), \(row)").nanoseconds / Double(count * events)
          }
        }
        return [
          contestant(Column.ours, sequences(count), toSequences),
          contestant(Column.stream, sequences(count), toStreams),
          contestant(Column.message, sequences(count), toMessageSequences),
          contestant(Column.ours, handlers(count), toHandlers),
          contestant(Column.stream, handlers(count), toStreamsWithHandlers),
          contestant(Column.message, handlers(count), toMessageHandlers),
        ]
      }
    }
  }
}

private func sequences(_ count: Int) -> String { count == 1 ? "to 1 sequence" : "to \(count) sequences" }
private func handlers(_ count: Int) -> String { count == 1 ? "to 1 handler" : "to \(count) handlers" }

/// The best round of each: one round in which another program has the second processor takes many times as long.
private func fasterThanStream(_ count: Int, _ bound: Double, aim: Double) -> Judgement {
  let row = sequences(count)
  return Judgement(row, "× as \(Column.stream), best", .atLeast, bound, aim: aim) {
    guard let stream = $0[row, Column.stream]?.minimum, let ours = $0[row, Column.ours]?.minimum, ours > 0 else {
      return nil
    }
    return stream / ours
  }
}

// MARK: - Sequences

private func toSequences(_ consumers: Consumers) {
  let bus = EventBus()
  consumers.start {
    bus.events(Tick.self)
  } amount: {
    $0.amount
  }
  consumers.post { bus.post(Tick(amount: 1)) }
}

private func toStreams(_ consumers: Consumers) {
  let streams = (0..<consumers.count).map { _ in AsyncStream.makeStream(of: Tick.self) }
  var rest = streams[...]
  consumers.start {
    rest.removeFirst().stream
  } amount: {
    $0.amount
  }
  consumers.post { for stream in streams { stream.continuation.yield(Tick(amount: 1)) } }
}

private func toMessageSequences(_ consumers: Consumers) {
  let center = NotificationCenter()
  consumers.start {
    center.messages(
      of: nil as TickMessage.Subject?, for: TickMessage.Asynchronous.self, bufferSize: consumers.events + 1)
  } amount: {
    $0.amount
  }
  consumers.post { center.post(TickMessage.Asynchronous(amount: 1)) }
}

// MARK: - Handlers

private func toHandlers(_ consumers: Consumers) {
  let bus = EventBus()
  let subscriptions = (0..<consumers.count).map { _ in
    let consumer = consumers.makeHandler()
    return bus.receive(Tick.self) { tick in await consumer.take(tick.amount) }
  }
  consumers.post { bus.post(Tick(amount: 1)) }
  for subscription in subscriptions { subscription.cancel() }
}

private func toStreamsWithHandlers(_ consumers: Consumers) {
  let streams = (0..<consumers.count).map { _ in AsyncStream.makeStream(of: Tick.self) }
  for (stream, _) in streams {
    let consumer = consumers.makeHandler()
    Task.detached { for await tick in stream { await consumer.take(tick.amount) } }
  }
  consumers.post { for stream in streams { stream.continuation.yield(Tick(amount: 1)) } }
  for stream in streams { stream.continuation.finish() }
}

private func toMessageHandlers(_ consumers: Consumers) {
  let center = NotificationCenter()
  let tokens = (0..<consumers.count).map { _ in
    let consumer = consumers.makeHandler()
    return center.addObserver(of: nil as TickMessage.Subject?, for: TickMessage.Asynchronous.self) {
      await consumer.take($0.amount)
    }
  }
  consumers.post { center.post(TickMessage.Asynchronous(amount: 1)) }
  for token in tokens { center.removeObserver(token) }
}
