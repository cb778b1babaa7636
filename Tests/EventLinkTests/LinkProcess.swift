#if MQTT
  import EventLink
  import Foundation
  import PseudoTerminal

  /// The tests' own program with a link, as a process.
  enum LinkProcess {
    /// Its command line.
    ///
    /// - Parameters:
    ///   - number: its number among the processes of the test.
    ///   - count: the number of all.
    ///   - port: the port of its broker.
    ///   - quality: how its ticks are sent.
    ///   - phase: the phase of its link.
    ///   - authority: the file of the certificate that it trusts; nil if its connection is not encrypted.
    /// - Returns: the program and its arguments.
    static func command(
      _ number: Int, of count: Int = 1, _ port: UInt16, _ quality: LinkQuality, while phase: String = "running",
      authority: String? = nil
    ) -> [String] {
      [builtProduct("LinkProbe"), "\(port)", "\(number)", "\(count)", "\(quality)", phase]
        + (authority.map { [$0] } ?? [])
    }

    /// Starts it as a service.
    static func start(
      _ number: Int, of count: Int = 1, _ port: UInt16, _ quality: LinkQuality, authority: String? = nil,
      in directory: TemporaryDirectory
    ) throws -> ChildProcess {
      try ChildProcess(
        command(number, of: count, port, quality, authority: authority),
        environment: bareEnvironment.merging(["APP_LIFECYCLE_HOST": "service"]) { $1 }, descriptors: (-1, -1, -1),
        directory: directory.path)
    }

    /// The most memory that a process has had, in bytes.
    static func peakMemory(of process: ChildProcess) throws -> Int {
      let text = try String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)
      let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) << 10
    }
  }
#endif
