import Glibc

/// The path of an executable of this package: they lie beside the program that runs the tests.
package func builtProduct(_ name: String) -> String {
  var buffer = [CChar](repeating: 0, count: 4_096)
  let count = readlink("/proc/self/exe", &buffer, buffer.count)
  precondition(count > 0, "/proc is not mounted")
  let runner = String(decoding: buffer[0..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
  return runner[...runner.lastIndex(of: "/")!] + name
}

/// The path of a program in PATH, or nil where it is not installed.
package func installedProgram(_ name: String) -> String? {
  let directories = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
  return directories.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
}

/// The environment that tests give to programs: little, so that a user's settings change nothing.
package let bareEnvironment: [String: String] = [
  "PATH": getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin",
  // The Swift runtime may lie where only the test's own environment says.
  "LD_LIBRARY_PATH": getenv("LD_LIBRARY_PATH").map { String(cString: $0) } ?? "",
  "HOME": "/nonexistent",
  "LC_ALL": "C.UTF-8",
  "TERM": "xterm-256color",
].filter { !$0.value.isEmpty }

/// What a program without a terminal left behind.
package struct FinishedProgram: Sendable {
  /// How it ended.
  package let ending: ChildEvent
  /// What it wrote to standard output.
  package let output: String
  /// What it wrote to standard error.
  package let errors: String
}

/// Runs a program without a terminal of its own to its end, with `input` on its standard input.
///
/// The child stays in the test's session, or leads one without a terminal; it has no terminal on its three descriptors. It is
/// killed past the deadline.
package func runProgram(
  _ arguments: [String], input: String = "", environment: [String: String] = [:], directory: String? = nil,
  inOwnSession: Bool = false, within limit: Duration = .seconds(600)
) async throws -> FinishedProgram {
  let standardInput = try Pipe()
  let output = try Pipe()
  let errors = try Pipe()
  let child: ChildProcess
  do {
    defer {
      close(standardInput.reader)
      close(output.writer)
      close(errors.writer)
    }
    child = try ChildProcess(
      arguments, environment: bareEnvironment.merging(environment) { $1 },
      descriptors: (standardInput.reader, output.writer, errors.writer), directory: directory,
      inOwnSession: inOwnSession)
  } catch {
    close(standardInput.writer)
    close(output.reader)
    close(errors.reader)
    throw error
  }
  startThread {
    // A program that ends without reading its input breaks the pipe; that is its own affair.
    try? writeAll(Array(input.utf8), to: standardInput.writer)
    close(standardInput.writer)
  }
  async let outputBytes = onThread { drain(output.reader) }
  async let errorBytes = onThread { drain(errors.reader) }
  let ending: Result<ChildEvent, any Error>
  do { ending = .success(try await child.ending(within: limit)) } catch { ending = .failure(error) }
  await child.end()
  return FinishedProgram(
    ending: try ending.get(), output: String(decoding: await outputBytes, as: UTF8.self),
    errors: String(decoding: await errorBytes, as: UTF8.self))
}

private func drain(_ descriptor: Int32) -> [UInt8] {
  defer { close(descriptor) }
  return (try? readAll(from: descriptor)) ?? []
}

private struct Pipe {
  let reader: Int32
  let writer: Int32

  init() throws {
    var ends: [Int32] = [0, 0]
    // Children get no descriptor above 2, so these need no flag to stay here.
    guard pipe(&ends) == 0 else { throw SystemError("pipe") }
    reader = ends[0]
    writer = ends[1]
  }
}

/// Waits until an order is no copy any more of the one that had been taken up at that time: half a second of the order's own rule.
package func copiesHaveCome(since taken: ContinuousClock.Instant) async throws {
  try await Task.sleep(until: taken + .milliseconds(500), clock: .continuous)
}
