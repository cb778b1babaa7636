import PseudoTerminal
import Testing

/// Programs that people put before another one, and that are then in the same job.
enum Wrapper: String, CaseIterable, CustomStringConvertible {
  case shellCommand, script, timeout, strace, python

  var description: String { rawValue }

  /// Skips the test where the wrapper is not installed, or may not work here.
  func isUsableOrCancel() async throws {
    switch self {
    case .strace:
      try requireProgram("strace")
      let trial = try await runProgram(["strace", "-f", "-o", "/dev/null", "true"])
      guard trial.ending != .exited(0) else { return }
      print("skipped: strace may trace nothing here")
      try Test.cancel("strace may trace nothing here")
    case .python: try requireProgram("python3")
    case .timeout: try requireProgram("timeout")
    case .shellCommand, .script: break
    }
  }

  /// The command line that runs `command` in the wrapper; every one of them ends with the program's status.
  func wrap(_ command: String, in directory: TemporaryDirectory) throws -> String {
    switch self {
    case .shellCommand: return "sh -c \"\(command); exit \\$?\""
    case .script:
      try directory.write("\(command)\nexit $?\n", to: "script")
      return "sh '\(directory.file("script"))'"
    case .timeout: return "timeout 1000 \(command)"
    case .strace: return "strace -f -e trace=none -o /dev/null \(command)"
    case .python:
      try directory.write("import subprocess, sys\nsys.exit(subprocess.call(sys.argv[1:]))\n", to: "wrapper.py")
      return "python3 '\(directory.file("wrapper.py"))' \(command)"
    }
  }
}
