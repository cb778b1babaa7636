import Glibc
import PseudoTerminal
import Testing

/// A `redis-server` on a port of its own, which keeps nothing.
final class RealRedis: MonitoredServer {
  private let reserved: ReservedPort
  private let directory: TemporaryDirectory
  private let state = Monitor<(process: ChildProcess?, starts: Int)>((nil, 0))

  var port: UInt16 { reserved.port }

  init(in directory: TemporaryDirectory) throws {
    reserved = try ReservedPort()
    self.directory = directory
  }

  func start() async throws {
    let number = state.update {
      $0.starts += 1
      return $0.starts
    }
    let log = try LineFile(directory.file("redis-\(number).log"))
    let process = try ChildProcess(
      [
        try #require(installedProgram("redis-server")), "--port", "\(port)", "--bind", "127.0.0.1", "--save", "",
        "--appendonly", "no", "--logfile", log.path, "--dir", directory.path,
      ], environment: bareEnvironment, descriptors: (-1, -1, -1), directory: directory.path)
    state.update { $0.process = process }
    try await log.line("that it is ready") { $0.contains("Ready to accept connections") }
  }

  func kill() async throws {
    let process = state.update { state in
      defer { state.process = nil }
      return state.process
    }
    await process?.end()
  }

  func stall() async {
    guard let process = state.state.process else { return }
    process.signal(SIGSTOP)
    await ProcessTable.stopping(of: process.pid)
  }

  func resume() async { state.state.process?.signal(SIGCONT) }

  func set(_ key: String) async throws {
    let client = try LineClient(port: port)
    try client.send("SET \(key) 1\n")
    _ = try await client.line()
  }
}
