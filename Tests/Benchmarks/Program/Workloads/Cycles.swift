import AppLifecycle
import BenchmarkHarness
import Observation
import PubSub
import Scheduling

extension Section {
  /// Sends an application home and brings it back, with components that take no time, beside the same work by hand.
  static func cycles(_ scale: Scale) -> Section {
    Section(
      name: "cycles", title: "Home and back, µs for both", rounds: scale.rounds,
      judgements: [
        Judgement(Row.full, "× \(Column.byHand)", .atMost, 5.5, aim: 3) {
          $0.ratio(Row.full, Column.ours, to: Column.byHand)
        },
        // A registrar of Observation takes two locks at each change.
        Judgement(Row.read, "× no subscriber", .atMost, 1.1, aim: 1.03) {
          $0.ratio(Row.read, Column.ours, toRow: Row.bare, Column.ours)
        },
      ]
    ) {
      [
        contestant(Row.bare, scale, subscribers: 0, resources: 0),
        contestant(Row.read, scale, subscribers: 0, resources: 0, reading: .once),
        contestant(Row.tracked, scale, subscribers: 0, resources: 0, reading: .tracked),
        contestant(Row.subscribers, scale, subscribers: 100, resources: 0),
        byHand(Column.byHand, Row.subscribers, scale, subscribers: 100, resources: 0),
        contestant(Row.full, scale, subscribers: 100, resources: 20),
        byHand(Column.byHand, Row.full, scale, subscribers: 100, resources: 20),
        byHand(Column.inTasks, Row.full, scale, subscribers: 100, resources: 20),
        posts(Row.posts, scale, subscribers: 100),
      ]
    }
  }

  /// Acquires and releases resources as an application comes and goes.
  static func resources(_ scale: Scale) -> Section {
    let most = scale.isQuick ? 1_000 : 10_000
    return Section(
      name: "resources", title: "Managed resources that take no time, home and back, µs a resource", rounds: 5,
      judgements: [Row.chain, Row.fan].map { shape in
        // Linear in their number: a resource among many costs what it costs among few.
        Judgement(Row.of(most, shape), "× among \((most / 10).grouped)", .atMost, 1.5, aim: 1.2) {
          $0.ratio(Row.of(most, shape), Column.ours, toRow: Row.of(most / 10, shape), Column.ours)
        }
      }
    ) {
      [Row.chain, Row.fan].flatMap { shape in
        [most / 10, most].map { count in
          let subject = Subject(subscribers: 0)
          return Contestant(Column.ours, row: Row.of(count, shape)) {
            try subject.prepare(resources: count, inChain: shape == Row.chain)
            return try subject.cycle(1).nanoseconds / 1_000 / Double(count)
          }
        }
      }
    }
  }
}

private enum Row {
  static let bare = "no subscriber"
  static let read = "no subscriber, its state was read"
  static let tracked = "no subscriber, its state is tracked"
  static let subscribers = "100 subscribers"
  static let full = "100 subscribers, 20 resources"
  static let posts = "the same posts alone"
  static let chain = "in a chain"
  static let fan = "in a fan"
  static func of(_ count: Int, _ shape: String) -> String { "\(count.grouped) \(shape)" }
}

/// How the application's state is read.
private enum Reading {
  case never
  /// Once, at the beginning.
  case once
  /// Before each home and each return, by Observation, which tells of the next change.
  case tracked
}

/// An application and what is told of its comings and goings.
private final class Subject: @unchecked Sendable {
  @MainActor private final class Delegate: ApplicationDelegate {}

  /// Touched on the main actor alone, which is the benchmark's thread.
  private var application: Application?
  private let bank: CounterBank
  private let reading: Reading
  private let changes = Guarded(0)
  private var acquired = 0
  private var resources = 0
  private var resign: Application.WillResignActive?
  private var background: Application.DidEnterBackground?
  private var foreground: Application.WillEnterForeground?
  private var active: Application.DidBecomeActive?

  init(subscribers: Int, reading: Reading = .never) { (bank, self.reading) = (CounterBank(subscribers), reading) }

  /// Launches the application, once.
  func prepare(resources: Int, inChain: Bool) throws {
    guard application == nil else { return }
    self.resources = resources
    _ = try MainActorWork.time { [self] in
      let application = Application(delegate: Delegate())
      self.application = application
      subscribe(to: application.bus)
      guard resources > 0 else { return try await launch(application) }
      var last = try application.manage("0", while: .foreground) {
        self.acquired += 1
      } release: {
        self.acquired -= 1
      }
      for index in 1..<resources {
        let resource = try application.manage("\(index)", while: .foreground, after: last) { _ in
          self.acquired += 1
        } release: {
          self.acquired -= 1
        }
        if inChain { last = resource }
      }
      try await launch(application)
    }
  }

  @MainActor private func launch(_ application: Application) async throws {
    await application.handle(.launch)
    if reading == .once, application.state != .active { throw WorkNotDone("the application is not active") }
    await settle()
  }

  /// Each subscriber listens to all four notifications of a cycle.
  private func subscribe(to bus: EventBus) {
    for counter in bank.counters {
      bus.subscribe(to: Application.WillResignActive.self, for: counter) { owner, _ in owner.total += 1 }
      bus.subscribe(to: Application.DidEnterBackground.self, for: counter) { owner, _ in owner.total += 1 }
      bus.subscribe(to: Application.WillEnterForeground.self, for: counter) { owner, _ in owner.total += 1 }
      bus.subscribe(to: Application.DidBecomeActive.self, for: counter) { owner, _ in owner.total += 1 }
    }
  }

  /// Goes home and comes back so often; every subscriber must have been told, every resource be held again.
  func cycle(_ times: Int) throws -> Duration {
    let before = bank.total
    let elapsed = try MainActorWork.time { [self] in
      for _ in 0..<times {
        track()
        await application?.handle(.home)
        track()
        guard acquired == 0 else { throw WorkNotDone("\(acquired) resources are held in the background") }
        await application?.handle(.open)
        await settle()
      }
    }
    try WorkNotDone.check(bank.total - before, expected: 4 * times * bank.counters.count, "home and back")
    let told = changes.withLock { changes in
      defer { changes = 0 }
      return changes
    }
    try WorkNotDone.check(told, expected: reading == .tracked ? 2 * times : 0, "tracking")
    return elapsed
  }

  /// Has Observation tell of the next change of the state.
  @MainActor private func track() {
    guard reading == .tracked, let application else { return }
    withObservationTracking {
      _ = application.state
    } onChange: {
      self.changes.withLock { $0 += 1 }
    }
  }

  /// Posts the four notifications of a cycle again, so often, without an application around them.
  func repost(_ times: Int) throws -> Duration {
    let before = bank.total
    let elapsed = try MainActorWork.time { [self] in
      guard let bus = application?.bus, let resign, let background, let foreground, let active else {
        throw WorkNotDone("a notification was not posted")
      }
      for _ in 0..<times {
        bus.post(resign)
        bus.post(background)
        bus.post(foreground)
        bus.post(active)
      }
    }
    try WorkNotDone.check(bank.total - before, expected: 4 * times * bank.counters.count, "the same posts")
    return elapsed
  }

  /// Keeps the notifications of one cycle, for ``repost(_:)``.
  func keepNotifications() throws {
    guard resign == nil, let bus = application?.bus else { return }
    let keepers = [
      bus.subscribe(to: Application.WillResignActive.self) { self.resign = $0 },
      bus.subscribe(to: Application.DidEnterBackground.self) { self.background = $0 },
      bus.subscribe(to: Application.WillEnterForeground.self) { self.foreground = $0 },
      bus.subscribe(to: Application.DidBecomeActive.self) { self.active = $0 },
    ]
    _ = try cycle(1)
    for keeper in keepers { keeper.cancel() }
  }

  /// Returns once every resource is held.
  @MainActor private func settle() async {
    while acquired < resources { await Task.yield() }
  }
}

private func contestant(
  _ row: String, _ scale: Scale, subscribers: Int, resources: Int, reading: Reading = .never
) -> Contestant {
  let subject = Subject(subscribers: subscribers, reading: reading)
  let cycles = scale.isQuick ? 20 : 100
  return Contestant(Column.ours, row: row) {
    try subject.prepare(resources: resources, inChain: false)
    return try subject.cycle(cycles).nanoseconds / 1_000 / Double(cycles)
  }
}

private func byHand(
  _ column: String, _ row: String, _ scale: Scale, subscribers: Int, resources: Int
) -> Contestant {
  let hasTasks = column == Column.inTasks
  let work = WorkByHand(subscribers: subscribers, resources: resources, operationsHaveTasks: hasTasks)
  // Each is timed for about as long as the application: on a busy machine a short time is less often disturbed than a long one.
  let cycles = (scale.isQuick ? 20 : 100) * (hasTasks ? 1 : 10)
  return Contestant(column, row: row) { try work.cycle(cycles).nanoseconds / 1_000 / Double(cycles) }
}

private func posts(_ row: String, _ scale: Scale, subscribers: Int) -> Contestant {
  let subject = Subject(subscribers: subscribers)
  let cycles = scale.isQuick ? 200 : 1_000
  return Contestant(Column.ours, row: row) {
    try subject.prepare(resources: 0, inChain: false)
    try subject.keepNotifications()
    return try subject.repost(cycles).nanoseconds / 1_000 / Double(cycles)
  }
}
