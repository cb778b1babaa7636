import AppLifecycle
import AppLifecycleTesting
import Foundation
import OutsideKit
import Testing

@Suite struct WindowHostTests {
  @MainActor private final class Delegate: ApplicationDelegate {}

  /// The host in virtual time.
  @MainActor private final class Subject: HostContract.Subject {
    let host: WindowHost
    private let clock: ManualClock
    var application: Application { host.application }

    init(_ clock: ManualClock) {
      self.clock = clock
      host = WindowHost(application: Application(delegate: Delegate(), clock: clock))
    }

    func perform(_ event: HostContract.Event) async -> Bool {
      switch event {
      case .launch: await application.handle(.launch)
      case .loseFocus: host.take(.focusLost)
      case .regainFocus: host.take(.focusGained)
      case .leave: host.take(.hidden)
      case .comeBack: host.take(.shown)
      case .shortMemory: await application.handle(.memoryWarning)
      case .terminate: host.take(.closed)
      case .shutDown: await application.handle(.shutDown)
      // A window is never stopped.
      case .suspend, .sleep: return false
      }
      await clock.settle()
      return true
    }
  }

  @MainActor @Test func theHostKeepsTheContract() async throws {
    try await withSimulation { @MainActor clock in
      let report = try await HostContract.check { Subject(clock) }
      #expect(report.violations == [] && report.missing == [.suspend, .sleep])
    }
  }

  // MARK: As a program

  private func play(_ lines: [String], _ arguments: [String] = [], then signal: Int32?) throws -> (
    output: [String], errors: String, status: Int32
  ) {
    let process = Process()
    let (input, output, errors) = (Pipe(), Pipe(), Pipe())
    process.executableURL = Bundle.main.bundleURL.appending(path: "OutsideGame")
    if !FileManager.default.isExecutableFile(atPath: process.executableURL!.path) {
      process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "OutsideGame")
    }
    process.arguments = arguments
    (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
    try process.run()
    var seen: [String] = []
    var rest = Data()
    // A line that is awaited comes: the last one of what the program says about the input.
    func awaitLine(_ wanted: String) {
      while !seen.contains(wanted) {
        let data = output.fileHandleForReading.availableData
        guard !data.isEmpty else { return }
        rest.append(data)
        while let end = rest.firstIndex(of: 0x0A) {
          seen.append(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
          rest = Data(rest[rest.index(after: end)...])
        }
      }
    }
    awaitLine("active (launch)")
    for line in lines {
      let parts = line.split(separator: "|").map(String.init)
      input.fileHandleForWriting.write(Data("\(parts[0])\n".utf8))
      if parts.count > 1 { awaitLine(parts[1]) }
    }
    if let signal { kill(process.processIdentifier, signal) }
    awaitLine("never")
    process.waitUntilExit()
    let text = String(
      decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    return (seen, text, process.terminationStatus)
  }

  @Test func theProgramFollowsItsWindowAndEndsInOrder() throws {
    let (output, errors, status) = try play(
      ["focusLost|inactive (focus)", "hidden|saved", "shown|inactive (restored)"], then: SIGTERM)
    #expect(
      output == [
        "inactive (launch)", "active (launch)", "inactive (focus)", "background (minimized)",
        "saved",
        "inactive (restored)", "background (SIGTERM)", "saved", "notRunning (SIGTERM)",
      ])
    #expect(errors == "" && status == 0)
  }

  @Test func whatBlocksIsNamedAndTheProcessEndsWithoutIt() throws {
    let (output, errors, status) = try play(["hidden|stuck"], ["--stuck"], then: SIGTERM)
    #expect(output.last == "stuck" && status == 70)
    #expect(
      errors.contains("saver, handler of applicationDidEnterBackground, blocks the main actor"))
    #expect(errors.contains("the screen is given back"))
  }
}
