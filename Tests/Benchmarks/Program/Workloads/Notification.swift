import AppLifecycle
import BenchmarkHarness
import Foundation
import PubSub

extension Section {
  /// One notification of the life cycle to 100 owners, each of whose handlers the application measures.
  ///
  /// All contestants are timed in the same way: the time between two looks at the thread's processor time, for each post.
  static func notification(_ scale: Scale) -> Section {
    Section(
      name: "notification", title: "A notification of the life cycle to 100 owners, ns a post", rounds: scale.rounds,
      judgements: [
        Judgement(row, "× \(Column.foundation)", .atMost, 0.9, aim: 0.6) {
          $0.ratio(row, Column.ours, to: Column.foundation)
        }
      ]
    ) {
      let posts = scale.isQuick ? 20 : 50
      return [
        contestant(Column.clock, posts) { owners in
          let floor = OwnerFloor(owners)
          return { timeEach(posts) { floor.postMeasured(1) } }
        },
        contestant(Column.ours, posts) { owners in
          let subject = NotifiedSubject(owners)
          return { try subject.time(posts) }
        },
        contestant(Column.foundation, posts) { counters in
          let center = Poster.foundation(.counting(counters))
          return { timeEach(posts) { center.post(1) } }
        },
        contestant(Column.foundationOwners, posts) { owners in
          let center = Poster.foundation(.owning(owners))
          return { timeEach(posts) { center.post(1) } }
        },
      ]
    }
  }
}

private let count = 100
private let row = "DidBecomeActive, measured"

/// Checks that every subscriber was called once a post.
private func contestant(
  _ column: String, _ posts: Int, subscribe: (CounterBank) -> () throws -> Duration
) -> Contestant {
  let bank = CounterBank(count)
  let time = subscribe(bank)
  return Contestant(column, row: row) {
    let before = bank.total
    let elapsed = try time()
    try WorkNotDone.check(bank.total - before, expected: posts * count, "\(column), \(row)")
    return elapsed.nanoseconds / Double(posts)
  }
}

private func timeEach(_ times: Int, _ body: () -> Void) -> Duration {
  (0..<times).reduce(.zero) { sum, _ in sum + Stopwatch.threadTime(body) }
}

@MainActor private final class NotifiedDelegate {
  var began = Duration.zero
  var elapsed = Duration.zero
}

extension NotifiedDelegate: ApplicationDelegate {
  func applicationDidBecomeActive(_ application: Application) { began = Stopwatch.threadTime }
}

/// An application that comes to the front, and the time that its notification of that takes.
///
/// The time runs from the delegate's method, which the application calls just before it posts, to the last handler of the
/// notification. So it has in it all that the application does for the post, and a bit more: noting the delegate's time.
private final class NotifiedSubject: @unchecked Sendable {
  // Touched on the main actor alone, which is the benchmark's thread.
  private var application: Application?
  private var delegate: NotifiedDelegate?
  private var last: EventBus.Subscription?
  private var elapsed = Duration.zero
  private let owners: CounterBank

  init(_ owners: CounterBank) { self.owners = owners }

  /// Goes home and comes back so often; how long the posts of DidBecomeActive took.
  func time(_ posts: Int) throws -> Duration {
    _ = try MainActorWork.time { [self] in
      let (application, delegate) = await launched()
      delegate.elapsed = .zero
      for _ in 0..<posts {
        await application.handle(.home)
        await application.handle(.open)
      }
      elapsed = delegate.elapsed
    }
    return elapsed
  }

  @MainActor private func launched() async -> (Application, NotifiedDelegate) {
    if let application, let delegate { return (application, delegate) }
    let delegate = NotifiedDelegate()
    let application = Application(delegate: delegate)
    (self.application, self.delegate) = (application, delegate)
    await application.handle(.launch)
    for owner in owners.counters {
      application.bus.subscribe(to: Application.DidBecomeActive.self, for: owner) { owner, _ in owner.total &+= 1 }
    }
    last = application.bus.subscribe(to: Application.DidBecomeActive.self) { _ in
      delegate.elapsed += Stopwatch.threadTime - delegate.began
    }
    return (application, delegate)
  }
}
