import Foundation
import TestTraits

/// A program that saves its state, in a process of its own, which has ended.
struct StateProbe {
  /// What it has said.
  let lines: [String]
  /// The number of the signal that ended it, negative, or its status.
  let ending: Int32

  /// Runs it; no file may grow beyond a limit, in KiB, if there is one.
  init(_ words: String..., fileLimit: Int? = nil) throws {
    let process = Process()
    let output = Pipe()
    let probe = URL(ofProduct: "SavedStateProbe")
    process.executableURL = fileLimit == nil ? probe : URL(filePath: "/bin/bash")
    process.arguments =
      (fileLimit.map { ["-c", "ulimit -f \($0); exec \"$0\" \"$@\"", probe.path] } ?? []) + words
    // The backtracer takes seconds, and what it says is not read here.
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    lines = said.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map {
      String(decoding: $0, as: UTF8.self)
    }
    ending = process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
  }

  /// The number that it has found, whole; nil if it did not come so far, or found a mixture.
  var found: Int? { lines.first.flatMap { $0.hasPrefix("found ") ? Int($0.dropFirst(6)) : nil } }

  /// The last number that was acknowledged.
  var acknowledged: Int? { lines.dropFirst().last.flatMap { Int($0) } }
}
