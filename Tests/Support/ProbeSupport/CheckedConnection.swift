package import AppLifecycle

/// A connection that is checked every five seconds; the first check waits at a gate.
package enum CheckedConnection {
  /// Manages the connection, if there is a gate.
  @MainActor package static func manage(in application: Application, gate path: String?, log: Log) {
    guard let path else { return }
    let gate = Gate(path)
    var isFirst = true
    do {
      try application.manage("connection", while: .running, checkEvery: .seconds(5)) {
      } check: {
        log.write("check begin")
        if isFirst { await gate.pass() }
        isFirst = false
        log.write(Task.isCancelled ? "check cancelled" : "check end")
      } release: {
        log.write("connection released")
      }
    } catch {
      fatalError("\(error)")
    }
  }
}
