import AppLifecycle
import UnixHost

/// Logs the states of an application, and what its host has to say, as lines with a level.
@MainActor public final class Logger {
  private var token: ObserverToken?

  /// Logs from now on.
  public init(_ application: Application, write: @escaping @Sendable (String) -> Void) {
    HostMessage.redirect { write("\($0.severity.rawValue): \($0.text)") }
    token = application.observe(label: "logger") { event in
      if let record = event.record, record.kind == .state {
        write("info: \(record.name) because of \(record.cause.rawValue)")
      }
    }
  }
}
