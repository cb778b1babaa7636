import AppLifecycle
import AppLifecycleTesting
import LoggingStandIn
import MetricsStandIn
import PubSub
import TestTraits
import Testing
import TracingStandIn
import UnixHost

// The listings of Sources/AppLifecycle/AppLifecycle.docc/LoggingMetricsTraces.md, word for word. `Logging`, `Metrics` and `Tracing` are stand-ins.

@MainActor func log(_ application: Application, to logger: Logger) -> ObserverToken {
  HostMessage.redirect { message in
    logger.log(level: message.severity == .notice ? .notice : .error, "\(message.text)")
  }
  return application.observe(label: "log") { event in
    switch event {
    case .recorded(let record) where record.kind == .state:
      logger.info("\(record.name)", metadata: ["cause": "\(record.cause.rawValue)"])
    case .callEnded(let entry, _) where entry.isLate: logger.warning("\(entry)")
    default: break
    }
  }
}

@MainActor func measure(_ application: Application) -> ObserverToken {
  application.observe(label: "metrics") { event in
    switch event {
    case .transitionEnded(let report) where report.outcome == .completed:
      let timer = Timer(
        label: "lifecycle_transition", dimensions: [("to", report.to.rawValue)])
      timer.recordNanoseconds(Int64(report.duration / .nanoseconds(1)))
    case .overran(let overrun):
      let callback = overrun.callback.rawValue
      Counter(label: "lifecycle_overruns", dimensions: [("callback", callback)])
        .increment()
    default: break
    }
  }
}

@MainActor final class SpanExporter {
  private var spans: [TracedCall.ID: any Span] = [:]
  private var token: ObserverToken?

  init(_ application: Application) {
    token = application.observe(label: "spans") { [weak self] in self?.take($0) }
  }

  private func take(_ event: TraceEvent) {
    switch event {
    case .callBegan(let call):
      let span = startSpan(call.name)
      span.attributes["step"] = call.step
      spans[call.id] = span
    case .callEnded(let entry, of: let id?):
      let span = spans.removeValue(forKey: id)
      if case .failed(let error) = entry.outcome {
        span?.setStatus(SpanStatus(code: .error, message: error))
      }
      span?.end()
    // The process has ended, and with it what it had begun.
    case .recorded(let record)
    where record.kind == .state && record.state == .notRunning:
      for span in spans.values { span.end() }
      spans = [:]
    default: break
    }
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

  @Test func `log states, and what is late`() async throws {
    let system = SimulatedSystem()
    let logger = Logger()
    let token = log(system.application, to: logger)
    defer { HostMessage.redirect(to: nil) }
    try await system.play("launch; slow:didEnterBackground:6s; home")
    token.cancel()
    #expect(
      logger.lines == [
        "info inactive cause=launch", "info active cause=launch", "info inactive cause=home",
        "info background cause=home",
        "warning applicationDidEnterBackground (delegate, applicationDidEnterBackground) 6 s, overran",
        "info notRunning cause=home",
      ])
  }

  @Test func `measure transitions and overruns`() async throws {
    _ = takeRecordedMetrics()
    let system = SimulatedSystem()
    let token = measure(system.application)
    try await system.play("launch; slow:didEnterBackground:6s; home")
    token.cancel()
    #expect(
      takeRecordedMetrics() == [
        "lifecycle_transition{to=active} 0 ns", "lifecycle_overruns{callback=applicationDidEnterBackground} +1",
        "lifecycle_transition{to=notRunning} 6000000000 ns",
      ])
  }

  @Test func `export spans`() async throws {
    _ = takeSpanLines()
    let system = SimulatedSystem()
    let exporter = SpanExporter(system.application)
    let subscription = system.bus.subscribe(to: Application.DidBecomeActive.self, label: "prices") { _ in
      throw Failure()
    }
    try await system.play("launch")
    subscription.cancel()
    withExtendedLifetime(exporter) {}
    let lines = takeSpanLines()
    #expect(
      lines.suffix(4) == [
        "begin applicationDidBecomeActive", "end applicationDidBecomeActive step=applicationDidBecomeActive",
        "begin prices", "end prices step=applicationDidBecomeActive error: Failure()",
      ])
    // All that began has ended.
    #expect(lines.count(where: { $0.hasPrefix("begin") }) == lines.count(where: { $0.hasPrefix("end") }))
  }
}
