import AppLifecycle
import BenchmarkHarness
import Foundation
import LifecycleJournal
import PubSub

extension Section {
  /// Sends an application home and brings it back, watched by some observers, or by a journal that flushes nothing.
  ///
  /// 100,000 transitions each, in ten rounds.
  static func observers(_ scale: Scale) -> Section {
    let transitions = scale.isQuick ? 1_000 : 10_000
    return Section(
      name: "observers", title: "A watched transition, with ten handlers of it, µs", rounds: 10,
      judgements: [
        Judgement(Row.ten, "× for each further one", .atMost, 0.4, aim: 0.25) {
          guard let ten = $0.median(Row.ten, Column.ours), let one = $0.median(Row.one, Column.ours),
            let none = $0.median(Row.none, Column.ours)
          else { return nil }
          return (ten - one) / 9 / none
        }
      ]
    ) {
      try [(Row.none, 0, false), (Row.one, 1, false), (Row.ten, 10, false), (Row.journal, 0, true)].map {
        row, observers, writes in
        let subject = try ObservedSubject(observers: observers, writesJournal: writes)
        return Contestant(Column.ours, row: row) { try subject.run(transitions) }
      }
    }
  }
}

private enum Row {
  static let none = "no observer"
  static let one = "1 observer"
  static let ten = "10 observers"
  static let journal = "a journal"
}

/// An application that goes home and comes back, and counts what its observers are called with.
private final class ObservedSubject: @unchecked Sendable {
  @MainActor private final class Delegate: ApplicationDelegate {}

  private let observers: Int
  private let directory: String?
  // Touched on the main actor alone, which is the benchmark's thread.
  private var application: Application?
  private var tokens: [ObserverToken] = []
  private var subscriptions: [EventBus.Subscription] = []
  private var events = 0
  private var handled = 0

  init(observers: Int, writesJournal: Bool) throws {
    self.observers = observers
    directory = writesJournal ? NSTemporaryDirectory() + "benchmark-\(UUID().uuidString)" : nil
    if let directory { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }
  }

  deinit { if let directory { try? FileManager.default.removeItem(atPath: directory) } }

  /// The microseconds that one of so many transitions took.
  func run(_ transitions: Int) throws -> Double {
    let elapsed = try MainActorWork.time { [self] in
      let application = await launched()
      let before = (events, handled)
      for _ in 0..<(transitions / 2) {
        await application.handle(.home)
        await application.handle(.open)
      }
      try WorkNotDone.check(handled - before.1, expected: transitions / 2 * 20, "handlers")
      guard observers == 0 || (events - before.0) % (observers * transitions / 2) == 0,
        observers == 0 || events > before.0
      else { throw WorkNotDone("an observer has missed something") }
    }
    return elapsed.nanoseconds / 1_000 / Double(transitions)
  }

  @MainActor private func launched() async -> Application {
    if let application { return application }
    let application = Application(delegate: Delegate())
    self.application = application
    if let directory {
      var configuration = Journal.Configuration()
      configuration.flush = .never
      _ = Journal(at: directory + "/journal.jsonl", of: application, configuration: configuration)
    }
    for _ in 0..<observers { tokens.append(application.observe { [unowned self] _ in events += 1 }) }
    for _ in 0..<10 {
      subscriptions.append(
        application.bus.subscribe(to: Application.DidEnterBackground.self) { [unowned self] _ in handled += 1 })
      subscriptions.append(
        application.bus.subscribe(to: Application.DidBecomeActive.self) { [unowned self] _ in handled += 1 })
    }
    await application.handle(.launch)
    return application
  }
}
