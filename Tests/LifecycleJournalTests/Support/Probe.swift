import Foundation
import TestTraits

/// A program that journals, in a process of its own.
final class Probe {
  private let process = Process()
  private let output = Pipe()
  /// What it has said, and has been read of it.
  private(set) var said: [UInt8] = []

  /// Starts it; `limit` is the longest file in KiB that it may write, as the shell's `ulimit -f` has it.
  init(
    _ path: String, seed: UInt64, size: Int, flush: Bool, count: Int = .max, limit: Int? = nil,
    hasStandardError: Bool = true, end: String? = nil
  ) throws {
    let arguments = [path, "\(seed)", "\(size)", flush ? "flush" : "never", "\(count)"] + (end.map { [$0] } ?? [])
    // The backtracer takes seconds, and what it says is not read here.
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    process.standardError = end == nil ? process.standardError : FileHandle.nullDevice
    if limit != nil || !hasStandardError {
      let line = (limit.map { "ulimit -f \($0); " } ?? "") + "exec \"$0\" \"$@\"" + (hasStandardError ? "" : " 2>&-")
      process.executableURL = URL(filePath: "/bin/bash")
      process.arguments = ["-c", line, Self.executable.path] + arguments
    } else {
      process.executableURL = Self.executable
      process.arguments = arguments
    }
    process.standardOutput = output
    try process.run()
  }

  /// Reads on until it has said so many bytes, or has ended; false then.
  @discardableResult
  func read(until count: Int) -> Bool {
    while said.count < count {
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return false }
      said += more
    }
    return true
  }

  /// Reads on until it has said a line; nil if it ends without.
  @discardableResult
  func line(where isWanted: (String) -> Bool) -> String? {
    while true {
      if let line = lines.first(where: isWanted) { return line }
      guard read(until: said.count + 1) else { return nil }
    }
  }

  /// Reads what it says until it ends by itself.
  func finish() {
    while read(until: said.count + 1) {}
    process.waitUntilExit()
  }

  /// Kills it, and reads what it had said by then.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    while read(until: said.count + 1) {}
    process.waitUntilExit()
  }

  /// What one of its descriptors stands for (Linux); nil for one that is closed.
  func descriptor(_ number: Int) -> String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process.processIdentifier)/fd/\(number)")
  }

  /// How it ended: the number of the signal, negative, or its status.
  var ending: Int32 {
    process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
  }

  /// The lines that it has said whole.
  var lines: [String] {
    said.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map { String(decoding: $0, as: UTF8.self) }
  }

  private static let executable = URL(ofProduct: "JournalProbe")
}
