package import AppLifecycle
import Glibc
import PubSub

/// What the variable POOL does to the probe's threads once it has launched.
///
/// Its words:
///
/// - `compute:PRIORITY` or `block:PRIORITY`: eight tasks of this priority (`none` for a plain `Task {}`) keep the thread pool busy.
/// - `no-threads`: the system creates no thread for the process any more.
/// - `block-main`: as soon as the application has ended, a task blocks the main actor.
/// - `saver`: an asynchronous handler of `DidEnterBackground` and of `WillTerminate` writes `saved` into the log.
@MainActor package enum FullPool {
  private static var subscriptions: [EventBus.Subscription] = []
  private static var observation: ObserverToken?

  package static func prepare(_ application: Application, log: Log) {
    guard let words = getenv("POOL").map({ String(cString: $0) })?.split(separator: " ") else { return }
    if words.contains("saver") {
      application.bus.receive(Application.DidEnterBackground.self, label: "saver") { _ async in
        await save(log)
      }.store(in: &subscriptions)
      application.bus.receive(Application.WillTerminate.self, label: "saver") { _ async in
        await save(log)
      }.store(in: &subscriptions)
    }
    if words.contains("block-main") {
      observation = application.observe { event in
        guard let record = event.record, record.kind == .state, record.state == .notRunning else { return }
        Task { @MainActor in while true { sleep(1) } }
      }
    }
    application.bus.subscribe(to: Application.DidFinishLaunching.self) { _ in
      for word in words {
        let parts = word.split(separator: ":").map(String.init)
        switch parts[0] {
        case "compute": fill(parts[1]) { while true {} }
        case "block": fill(parts[1]) { while true { sleep(1) } }
        case "no-threads": refuseThreads()
        default: break
        }
      }
      log.write("pool prepared")
    }.store(in: &subscriptions)
  }

  /// Runs on a thread of the pool.
  @concurrent nonisolated private static func save(_ log: Log) async { log.write("saved") }

  private static func fill(_ priority: String, _ body: @escaping @Sendable () -> Void) {
    let priorities: [String: TaskPriority] = [
      "high": .high, "medium": .medium, "low": .low, "background": .background,
    ]
    for _ in 0..<8 {
      if priority == "none" {
        Task { @concurrent in body() }
      } else {
        Task.detached(priority: priorities[priority]) { body() }
      }
    }
  }

  /// The superuser has no limit, so it becomes another user.
  private static func refuseThreads() {
    var limit = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(Int32(__RLIMIT_NPROC.rawValue), &limit)
    if getuid() == 0 { setuid(65534) }
  }
}
