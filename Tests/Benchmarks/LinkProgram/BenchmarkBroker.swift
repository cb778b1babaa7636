import Foundation
import Glibc
import PseudoTerminal

/// A mosquitto of the benchmark's own.
struct BenchmarkBroker {
  let port: UInt16
  private let directory: TemporaryDirectory
  private let child: ChildProcess

  /// Why nothing can be measured here; nil if it can.
  static var obstacle: String? {
    #if MQTT
      path == nil ? "mosquitto is not installed" : nil
    #else
      "the package trait MQTT is off"
    #endif
  }

  // Debian has it where not every user looks.
  private static var path: String? {
    installedProgram("mosquitto") ?? (access("/usr/sbin/mosquitto", X_OK) == 0 ? "/usr/sbin/mosquitto" : nil)
  }

  init() async throws {
    port = try ReservedPort().port
    directory = try TemporaryDirectory()
    let log = try LineFile(directory.file("log"))
    // Nothing is dropped, and no client waits for the broker's own limit of messages in flight.
    try directory.write(
      """
      user root
      listener \(port) 127.0.0.1
      allow_anonymous true
      persistence false
      max_queued_messages 0
      max_inflight_messages 1000
      log_type error
      log_type information
      log_dest file \(log.path)

      """, to: "conf")
    child = try ChildProcess(
      [Self.path ?? "mosquitto", "-c", directory.file("conf")], environment: bareEnvironment, descriptors: (-1, -1, -1),
      directory: directory.path)
    try await log.line("the broker runs") { $0.hasSuffix(" running") }
  }

  /// The processor time that this process and the broker have used, in microseconds.
  ///
  /// The broker has one thread, whose time Linux counts in nanoseconds.
  var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    let own = Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1_000
    let times = try? String(contentsOfFile: "/proc/\(child.pid)/schedstat", encoding: .utf8)
    let broker = times?.split(separator: " ").first.flatMap { Double($0) } ?? 0
    return own + broker / 1_000
  }

  func end() async {
    await child.end()
    directory.remove()
  }
}
