import PseudoTerminal

/// The daemon of the example, ready to serve.
struct ServiceDaemon {
  let manager: ServiceManagerDouble
  let pid: Int32
  let port: UInt16
}

/// Runs the daemon under a double of the service manager; the body ends it.
///
/// - Parameters:
///   - options: the daemon's options beside its port.
///   - before: a command that starts the one that follows it.
///   - environment: variables beside the manager's.
///   - directory: where the manager's socket lies.
///   - body: runs once the daemon is ready.
/// - Returns: what the daemon left behind.
/// - Throws: what the body threw, or the error of starting the daemon.
func withService(
  _ options: [String] = [], before: [String] = [], environment: [String: String] = [:],
  in directory: TemporaryDirectory, body: (ServiceDaemon) async throws -> Void
) async throws -> FinishedProgram {
  let manager = try ServiceManagerDouble(.path, in: directory)
  let reserved = try ReservedPort()
  let port = reserved.port
  // The deadline is for the daemon's whole life, and so for all that the body does with it.
  async let finished = runProgram(
    before + [builtProduct("Service"), "--port", "\(port)"] + options,
    environment: environment.merging(["NOTIFY_SOCKET": manager.address]) { $1 }, within: .seconds(600))
  let ready = try await manager.notice(with: "READY")
  try await body(ServiceDaemon(manager: manager, pid: ready.sender, port: port))
  return try await finished
}
