import Foundation

/// Where the figures come from.
package struct Machine: Codable, Sendable {
  /// The processor's own name.
  package var processor: String
  /// How many processors the system runs on.
  package var cores: Int
  /// The system and its version.
  package var system: String
  /// The version of the Swift library.
  package var swift: String
  /// How many tasks the system had to run, on average of the last minute; other work than ours disturbs.
  package var load: Double
  /// Whether the program was built with optimisation.
  package var isOptimized: Bool

  /// The machine that this runs on.
  package static func current() -> Machine {
    let processor = contents("/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") }
    var isOptimized = true
    // Evaluated in debug builds alone.
    assert({ isOptimized = false }() == ())
    return Machine(
      processor: processor?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown",
      cores: ProcessInfo.processInfo.activeProcessorCount,
      system: ProcessInfo.processInfo.operatingSystemVersionString, swift: "\(_SwiftStdlibVersion.current)",
      load: contents("/proc/loadavg").split(separator: " ").first.flatMap { Double($0) } ?? 0,
      isOptimized: isOptimized)
  }

  /// Whether so much else was running that wall time tells little.
  package var isBusy: Bool { load > Double(cores) / 2 }

  /// The same as a line.
  package var summary: String {
    "\(processor), \(cores) cores, \(system), Swift \(swift), load \(load)\(isOptimized ? "" : ", DEBUG BUILD")"
  }

  private static func contents(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
}
