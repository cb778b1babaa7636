import Glibc
import PseudoTerminal

/// A mosquitto of the test's own, on a port and in a directory of its own.
final class Broker: Sendable {
  let port: UInt16
  /// The port for encrypted connections; nil if there is none.
  let encryptedPort: UInt16?
  private let directory: TemporaryDirectory
  private let configuration: String
  private let log: LineFile

  /// Why the tests with a real broker do not run here; nil if they do.
  static var obstacle: String? {
    #if MQTT
      // Debian has it where not every user looks.
      return path == nil ? "mosquitto is not installed" : nil
    #else
      return "the package trait MQTT is off"
    #endif
  }

  private static var path: String? {
    installedProgram("mosquitto") ?? (access("/usr/sbin/mosquitto", X_OK) == 0 ? "/usr/sbin/mosquitto" : nil)
  }

  init(
    in directory: TemporaryDirectory, name: String = "broker", encryptedPort: UInt16? = nil, _ lines: [String] = []
  ) throws {
    port = try ReservedPort().port
    self.encryptedPort = encryptedPort
    self.directory = directory
    configuration = "\(name).conf"
    let fixed = [
      // Started as root, mosquitto changes to a user that may not write its log here.
      "user root", "listener \(port) 127.0.0.1", "persistence false", "max_queued_messages 0",
      "max_inflight_messages 1000",
      "log_type error", "log_type information", "log_dest file \(directory.file("\(name).log"))",
    ]
    let access = lines.contains { $0.hasPrefix("allow_anonymous") } ? [] : ["allow_anonymous true"]
    try directory.write((fixed + access + lines).joined(separator: "\n") + "\n", to: configuration)
    log = try LineFile(directory.file("\(name).log"))
  }

  /// A broker that takes encrypted connections, too, with the file of the certificate that they must trust.
  static func encrypted(in directory: TemporaryDirectory) async throws -> (Broker, String) {
    let (certificate, key) = (directory.file("certificate"), directory.file("key"))
    let openssl = try ChildProcess(
      [
        installedProgram("openssl") ?? "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
        "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
      ], environment: bareEnvironment, descriptors: (-1, -1, -1), directory: directory.path)
    _ = try await openssl.ending()
    let port = try ReservedPort().port
    let lines = ["listener \(port) 127.0.0.1", "certfile \(certificate)", "keyfile \(key)"]
    return (try Broker(in: directory, encryptedPort: port, lines), certificate)
  }

  /// Starts it; it listens when this returns.
  func start() async throws -> ChildProcess {
    let child = try ChildProcess(
      [Self.path ?? "mosquitto", "-c", directory.file(configuration)], environment: bareEnvironment,
      descriptors: (-1, -1, -1), directory: directory.path)
    try await log.line("the broker runs") { $0.hasSuffix(" running") }
    return child
  }
}
