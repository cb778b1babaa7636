import AppLifecycle
import AppLifecycleTesting
import LoggingStandIn
import MetricsStandIn
import PubSub
import Synchronization
import TestTraits
import Testing
import TracingStandIn
import UnixHost

// The listings of Sources/AppLifecycle/AppLifecycle.docc/LoggingMetricsTraces.md, word for word. `Logging`, `Metrics` and `Tracing` are stand-ins.

@MainActor func log(_ application: Application, to logger: Logger) -> ObserverToken {
  HostMessage.redirect { message in
    let level = Logger.Level(rawValue: message.severity.rawValue) ?? .error
    logger.log(level: level, "\(message.text)")
  }
  return application.observe(label: "log") { event in
    switch event {
    case .recorded(let record) where record.kind == .state:
      logger.info("\(record.name)", metadata: ["cause": "\(record.cause.rawValue)"])
    // The messages of the host tell of calls that fail or are late.
    case .callEnded(let entry, _):
      logger.debug(
        "\(entry.name)",
        metadata: [
          "kind": "\(entry.kind)", "step": "\(entry.step)",
          "duration": "\(entry.duration)", "outcome": "\(entry.outcome)",
        ])
    default: break
    }
  }
}

@MainActor func measure(_ application: Application) -> ObserverToken {
  application.observe(label: "metrics") { event in
    switch event {
    case .transitionEnded(let report) where report.outcome == .completed:
      let dimensions = [("to", report.to.rawValue)]
      Timer(label: "lifecycle_transition", dimensions: dimensions)
        .record(duration: report.duration)
    case .callEnded(let entry, _):
      guard case .failed = entry.outcome else { return }
      Counter(label: "lifecycle_failures", dimensions: [("step", entry.step)])
        .increment()
    case .overran(let overrun):
      let callback = overrun.callback.rawValue
      Counter(label: "lifecycle_overruns", dimensions: [("callback", callback)])
        .increment()
    default: break
    }
  }
}

struct TaskLocalLogger: CallInterceptor {
  let logger: Logger

  func intercept<Result>(
    _ call: TracedCall, _ operation: () throws -> Result
  ) rethrows -> Result {
    try withLogger(logger) { _ in try operation() }
  }

  nonisolated(nonsending) func intercept<Result>(
    _ call: TracedCall,
    _ operation: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    try await withLogger(logger) { _ in try await operation() }
  }
}

final class SpanExporter: CallInterceptor {
  /// The latest transition: some of its calls begin when it has ended.
  private let latest = Mutex<(id: TracedTransition.ID, context: ServiceContext)?>(nil)

  func intercept<Result>(
    _ call: TracedCall, _ operation: () throws -> Result
  ) rethrows -> Result {
    try withSpan(call.name, context: context(of: call)) { span in
      span.attributes["step"] = call.step
      return try operation()
    }
  }

  nonisolated(nonsending) func intercept<Result>(
    _ call: TracedCall,
    _ operation: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    // Its code opens its own spans, such as one for each request.
    if call.isLongRunning { return try await operation() }
    return try await withSpan(call.name, context: context(of: call)) { span in
      span.attributes["step"] = call.step
      return try await operation()
    }
  }

  nonisolated(nonsending) func intercept<Result>(
    _ transition: TracedTransition,
    _ operation: nonisolated(nonsending) () async -> Result
  ) async -> Result {
    await withSpan(transition.cause.rawValue, context: .topLevel) { span in
      latest.withLock { $0 = (transition.id, span.context) }
      return await operation()
    }
  }

  private func context(of call: TracedCall) -> ServiceContext {
    let latest = latest.withLock { $0 }
    guard let latest, latest.id == call.transition else { return .topLevel }
    return latest.context
  }
}

@MainActor private final class TracedService {
  private(set) var logger = ""
}

extension TracedService: ServiceApplicationDelegate {
  static var configuration: Application.Configuration {
    var configuration = Application.Configuration()
    configuration.interceptors = [
      TaskLocalLogger(logger: Logger(label: "words")), SpanExporter(),
    ]
    return configuration
  }
}

extension TracedService {
  func applicationDidFinishLaunching(_ application: Application) {
    logger = Logger.current.label
    withSpan("query") { _ in }
  }
}

/// One after another: metrics, spans and the messages of hosts are the process's.
@MainActor @Suite(.serialized) struct `The samples of Docs Observing` {
  private struct Failure: Error {}

  @Test func `print the names of records`() async throws {
    let (system, application) = { ($0, $0.application) }(SimulatedSystem())
    var names: [String] = []
    func print(_ name: String) { names.append(name) }
    let token = application.observe { event in
      if let record = event.record { print(record.name) }
    }
    try await system.play("launch")
    token.cancel()
    #expect(names.contains("applicationDidBecomeActive"))
  }

  @Test func `log states, and each call with its outcome once`() async throws {
    let system = SimulatedSystem()
    let logger = Logger(label: "test")
    let token = log(system.application, to: logger)
    defer { HostMessage.redirect(to: nil) }
    let subscription = system.bus.subscribe(to: Application.DidBecomeActive.self, label: "prices") { _ in
      throw Failure()
    }
    try await system.play("launch; slow:didEnterBackground:6s; home")
    token.cancel()
    subscription.cancel()
    #expect(
      logger.lines.filter { $0.hasPrefix("info") } == [
        "info inactive cause=launch", "info active cause=launch", "info inactive cause=home",
        "info background cause=home", "info notRunning cause=home",
      ])
    let calls = logger.lines.filter { !$0.hasPrefix("info") }
    #expect(calls.allSatisfy { $0.hasPrefix("debug ") })
    #expect(
      calls.filter { $0.hasPrefix("debug prices") } == [
        "debug prices duration=0.0 seconds kind=subscriber outcome=failed(\"Failure()\") "
          + "step=applicationDidBecomeActive"
      ])
    #expect(calls.count { $0.contains("outcome=overran") } == 1)
  }

  @Test(arguments: HostMessage.Severity.allCases)
  func `log the messages of hosts at their own level`(severity: HostMessage.Severity) {
    let logger = Logger(label: "test")
    let token = log(SimulatedSystem().application, to: logger)
    defer { HostMessage.redirect(to: nil) }
    HostMessage(severity, "feed cannot be acquired").send()
    token.cancel()
    #expect(logger.lines == ["\(severity.rawValue) feed cannot be acquired"])
  }

  @Test func `measure transitions, failures and overruns`() async throws {
    _ = takeRecordedMetrics()
    let system = SimulatedSystem()
    let token = measure(system.application)
    let subscription = system.bus.subscribe(to: Application.DidBecomeActive.self, label: "prices") { _ in
      throw Failure()
    }
    try await system.play("launch; slow:didEnterBackground:6s; home")
    token.cancel()
    subscription.cancel()
    #expect(
      takeRecordedMetrics() == [
        "lifecycle_failures{step=applicationDidBecomeActive} +1", "lifecycle_transition{to=active} 0 ns",
        "lifecycle_overruns{callback=applicationDidEnterBackground} +1",
        "lifecycle_transition{to=notRunning} 6000000000 ns",
      ])
  }

  @Test func `bind a logger, and put the spans of called code into those of their transition`() async throws {
    _ = takeSpanLines()
    let service = TracedService()
    let system = SimulatedSystem { service }
    let subscription = system.bus.subscribe(to: Application.DidFinishLaunching.self, label: "prices") { _ in
      throw Failure()
    }
    try system.application.manage("database", while: .running) { withSpan("connect") { _ in } }
    system.application.task { withSpan("request") { _ in } }
    try await system.play("launch:background")
    subscription.cancel()
    let lines = takeSpanLines()
    #expect(service.logger == "words")
    let expected = [
      "begin launch:background",
      "begin launch:background > applicationDidFinishLaunching",
      "begin launch:background > applicationDidFinishLaunching > query",
      "end launch:background > prices step=applicationDidFinishLaunching error: Failure()",
      "begin launch:background > database > connect",
      "end launch:background > database step=acquire",
      // A task is of no transition, and may last: its spans are traces of their own.
      "begin request",
    ]
    for line in expected { #expect(lines.contains(line), "\(line)") }
    #expect(!lines.contains { $0.contains("task") })
    // All that began has ended.
    #expect(lines.count { $0.hasPrefix("begin") } == lines.count { $0.hasPrefix("end") })
  }
}
