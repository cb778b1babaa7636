import AppLifecycle
import Foundation
import PseudoTerminal
import TestTraits
import Testing

@testable import LifecycleRecorder

/// The experiment's file and table; what the program shows in a terminal is compared with the page of the examples.
@Suite(.timeLimit(.hang)) struct LifecycleRecorderTests {
  private func event(
    _ name: String, _ place: RecordedEvent.Place = .delegate, _ state: ApplicationState = .active, process: Int32 = 1,
    at seconds: Double = 0
  ) -> RecordedEvent {
    RecordedEvent(
      process: process, time: Date(timeIntervalSince1970: seconds), name: name, place: place, state: state)
  }

  private func lines(_ events: [RecordedEvent], running: Set<Int32> = []) -> [String] {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return EventTable(events, calendar: calendar) { running.contains($0) }.lines
  }

  @Test func `What is appended is there after the file is opened again`() throws {
    try withTemporaryDirectorySync { directory in
      let path = directory.file("new/folder/events.jsonl")
      let events = [event("willFinishLaunching", at: 7), event("didFinishLaunching", .notification, .inactive)]
      let first = try EventFile(path: path)
      #expect(first.earlier.isEmpty)
      for event in events { try first.append(event) }
      #expect(try EventFile(path: path).earlier == events)
    }
  }

  /// A full disk cuts a line short; an editor leaves a remark.
  @Test func `A line that is no event is left out, and the next one is whole`() throws {
    try withTemporaryDirectorySync { directory in
      let path = directory.file("events.jsonl")
      try EventFile(path: path).append(event("didBecomeActive"))
      let whole = try String(contentsOfFile: path, encoding: .utf8)
      try directory.write("a remark\n\n" + whole + whole.dropLast(9), to: "events.jsonl")
      let file = try EventFile(path: path)
      #expect(file.earlier.map(\.name) == ["didBecomeActive"])
      try file.append(event("willResignActive"))
      #expect(try EventFile(path: path).earlier.map(\.name) == ["didBecomeActive", "willResignActive"])
    }
  }

  @Test func `A file that cannot be opened is named`() throws {
    try withTemporaryDirectorySync { directory in
      #expect(throws: (any Error).self) { try EventFile(path: directory.path) }
      try directory.write("", to: "file")
      #expect(throws: (any Error).self) { try EventFile(path: directory.file("file/events.jsonl")) }
    }
  }

  @Test func `A call and its notification are one row`() {
    #expect(
      lines([
        event("willFinishLaunching", .delegate, .inactive), event("didBecomeActive", at: 61),
        event("didBecomeActive", .notification, at: 61), event("didBecomeActive", .notification, at: 3661),
      ]) == [
        "launch 1, 1970-01-01, process 1: it vanished without a call, last seen active",
        "  TIME      EVENT                               DELEGATE    NOTIFICATION",
        "  00:00:00  willFinishLaunching                 inactive    –",
        "  00:01:01  didBecomeActive                     active      active",
        "  01:01:01  didBecomeActive                     –           active",
      ])
  }

  @Test func `Programs that run at the same time have a heading each`() {
    let headings = lines(
      [
        event("willFinishLaunching", process: 1), event("willFinishLaunching", process: 2),
        event("didBecomeActive", process: 1), event("willTerminate", process: 2),
        // The number of a process that is gone is given to another one.
        event("willFinishLaunching", process: 2),
      ], running: [1, 2]
    ).filter { $0.hasPrefix("launch") }
    #expect(
      headings == [
        "launch 1, 1970-01-01, process 1: it runs", "launch 2, 1970-01-01, process 2: it ended with willTerminate",
        "launch 3, 1970-01-01, process 2: it runs",
      ])
    #expect(lines([]) == ["no launch is recorded yet"])
  }

  /// Every callback of the application has a row: the delegate and the list of notifications leave none out.
  @Test @MainActor func `Each callback is recorded, and each notification`() async throws {
    let device = RecorderDevice()
    try await device.play("launch; memory; time; home; open; passcode:on; lock; wait:1m; unlock; quit")
    let rows = device.table.lines.dropFirst(2).map { $0.split(separator: " ").dropFirst().map(String.init) }
    for callback in ApplicationCallback.allCases {
      let row = try #require(rows.first { $0.first == callback.shortName }, "\(callback)")
      #expect((row[2] == "–") == (callback.notificationName == nil), "\(callback)")
      #expect(row[1] != "–", "\(callback)")
    }
  }

  @Test func `A wrong command line ends with status 64, and names it`() async throws {
    for arguments in [["--file"], ["--bogus"], ["--script"]] {
      let finished = try await runProgram([builtProduct("LifecycleRecorder")] + arguments)
      #expect(finished.ending == .exited(64))
      #expect(finished.errors.contains(arguments[0]))
    }
    let mistake = try await runProgram([builtProduct("LifecycleRecorder"), "--script", "launch; nonsense"])
    #expect(mistake.ending == .exited(2))
  }
}

/// Runs `body` with a directory of its own.
private func withTemporaryDirectorySync(_ body: (TemporaryDirectory) throws -> Void) throws {
  let directory = try TemporaryDirectory()
  defer { directory.remove() }
  try body(directory)
}
