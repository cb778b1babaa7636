import AppLifecycle

/// Exports what an application spends its time on: a line for each call that has ended.
@MainActor public final class Exporter {
  /// The lines so far.
  public private(set) var lines: [String] = []
  private var open: [TracedCall.ID: TracedCall] = [:]
  private var token: ObserverToken?

  /// How many calls have begun and not ended.
  public var openCalls: Int { open.count }

  /// Exports what happens from now on.
  public init(_ application: Application) {
    token = application.observe(label: "exporter") { [weak self] in self?.take($0) }
  }

  private func take(_ event: TraceEvent) {
    switch event {
    case .callBegan(let call): open[call.id] = call
    case .callEnded(let entry, of: let id?):
      open[id] = nil
      lines.append("\(entry.kind.rawValue) \(entry.name)")
    case .recorded(let record) where record.kind == .state && record.state == .notRunning:
      open = [:]
    default: break
    }
  }
}
