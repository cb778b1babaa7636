import AppLifecycle
import AppLifecycleTesting
import LifecycleJournal
import TestTraits
import Testing

@Suite(.timeLimit(.hang)) @MainActor struct ContractTests {
  // MARK: The rules of a record

  @Test(
    arguments: [
      "", "launch", "launch:background; open", "launch; home; wait:5s; open; kill", "launch; home; suspend; reclaim",
      "passcode:on; launch; lock; wait:1m; unlock; switcher; switcher:kill",
      "launch; crash; launch; reboot; fetch; wait:1m; wake",
      "interrupt:call; launch; interrupt:alert; end:call; end:alert; memory; time; home; time; suspend; time; open",
    ])
  func `the simulated system keeps the rules`(script: String) async throws {
    let system = SimulatedSystem()
    try await system.play(script)
    #expect(system.record.violations == [])
  }

  @Test func `an observer that throws while no process runs breaks no rule`() async throws {
    struct Failure: Error {}
    let system = SimulatedSystem()
    let token = system.application.observe(label: "log") { _ in throw Failure() }
    try await system.play("launch; kill")
    token.cancel()
    let report = system.record.first { $0.kind == .report }
    #expect(report?.name == "observerFailed:log" && report?.state == .notRunning)
    #expect(system.record.violations == [])
  }

  /// Every record left out, doubled, or exchanged with its neighbour: the rules notice, but where the change is none.
  @Test(
    arguments: [
      (.application, "launch; home; wait:5s; open; home; kill"),
      (.scenes, "launch; scene:open:b; home; wait:5s; scene:open:b; scene:open:main; kill"),
    ] as [(LifecycleProfile, String)])
  func `the rules are sharp: each kind of mistake in a record is noticed`(
    profile: LifecycleProfile, script: String
  ) async throws {
    let record = try await SimulatedSystem(profile: profile).play(script)
    for index in record.indices where record[index].kind != .input {
      var (missing, doubled, wrong) = (record, record, record)
      missing.remove(at: index)
      doubled.insert(record[index], at: index)
      wrong[index].state = record[index].state == .active ? .inactive : .active
      #expect(!missing.violations.isEmpty, "without \(record[index].jsonLine)")
      #expect(!doubled.violations.isEmpty, "twice \(record[index].jsonLine)")
      #expect(!wrong.violations.isEmpty, "in the wrong state, \(record[index].jsonLine)")
      guard index + 1 < record.endIndex, record[index + 1].kind != .input else { continue }
      var swapped = record
      swapped.swapAt(index, index + 1)
      #expect(!swapped.violations.isEmpty, "too late \(record[index].jsonLine)")
    }
  }

  // MARK: Hosts

  /// The simulated system as a host, with a fault if one is wanted.
  private struct SimulatedHost: HostContract.Subject {
    let system = SimulatedSystem()
    var leaves = "home"
    var sleeps = "home; suspend"
    var ends = "wake; kill"
    /// What it does not know.
    var lacks: Set<HostContract.Event> = []

    var application: Application { system.application }

    func perform(_ event: HostContract.Event) async throws -> Bool {
      if lacks.contains(event) { return false }
      let script =
        switch event {
        case .launch: "launch"
        case .loseFocus: "interrupt:focusLost"
        case .regainFocus: "end:focusLost"
        case .leave: leaves
        case .suspend: "suspend"
        case .sleep: sleeps
        case .comeBack: "open"
        case .shortMemory: "memory"
        case .terminate: "quit"
        case .shutDown: ends
        }
      try await system.play(script)
      return true
    }
  }

  @Test func `the simulated system keeps the contract of hosts`() async throws {
    let report = try await HostContract.check { SimulatedHost() }
    #expect(report.violations == [] && report.notPlayed == [] && report.missing == [])
    #expect(report.description == "")
  }

  @Test(arguments: ["", "interrupt:call", "crash"])
  func `a host that does not do as it should is found out`(leaves: String) async throws {
    #expect(try await !HostContract.check { SimulatedHost(leaves: leaves) }.violations.isEmpty)
  }

  /// It would end a suspended application without a call, whether it left the foreground in an event of its own or not.
  @Test(
    arguments: [
      (
        [], ["launch, leave, suspend, shutDown", "launch, sleep, shutDown", "launch, sleep, comeBack, sleep, shutDown"]
      ),
      ([.leave, .suspend], ["launch, sleep, shutDown", "launch, sleep, comeBack, sleep, shutDown"]),
      ([.sleep], ["launch, leave, suspend, shutDown"]),
    ] as [(Set<HostContract.Event>, [String])])
  func `a host that does not wake what it ends is found out`(
    lacks: Set<HostContract.Event>, places: [String]
  ) async throws {
    let report = try await HostContract.check { SimulatedHost(ends: "kill", lacks: lacks) }
    #expect(report.violations.map(\.place) == places)
    #expect(Set(report.violations.map(\.message)) == ["willTerminate is called 0 times instead of once"])
    #expect(report.missing == lacks)
  }

  @Test func `a host that tells of no suspension is found out`() async throws {
    let report = try await HostContract.check { SimulatedHost(sleeps: "home") }
    #expect(report.violations.map(\.place).contains("launch, sleep, shutDown"))
    #expect(Set(report.violations.map(\.message)) == ["follows a suspension of which the application was not told"])
  }

  @Test func `what the system of a host lacks is reported, with the scenarios that it leaves out`() async throws {
    let report = try await HostContract.check { SimulatedHost(lacks: [.suspend, .terminate, .sleep]) }
    #expect(report.violations == [] && report.missing == [.suspend, .terminate, .sleep])
    #expect(report.notPlayed.contains([.launch, .leave, .suspend, .shutDown]))
    #expect(report.notPlayed.contains([.launch, .terminate]) && !report.notPlayed.contains([.launch, .shutDown]))
    #expect(report.notPlayed.allSatisfy { !report.missing.isDisjoint(with: $0) })
    #expect(report.description.split(separator: "\n").contains("not played: launch, sleep, shutDown"))
  }

  /// Another one may lack what its world does not have, and its application has ended after each scenario.
  @Test func `a host that does nothing is found out`() async throws {
    let nothing = Set(HostContract.Event.allCases)
    #expect(try await !HostContract.check { SimulatedHost(lacks: nothing) }.violations.isEmpty)
    #expect(try await !HostContract.check { SimulatedHost(lacks: [.shutDown]) }.violations.isEmpty)
    var hosts: [SimulatedHost] = []
    let report = try await HostContract.check {
      hosts.append(SimulatedHost(lacks: nothing.subtracting([.launch, .shutDown])))
      return hosts[hosts.count - 1]
    }
    #expect(report.violations == [] && report.missing == nothing.subtracting([.launch, .shutDown]))
    #expect(hosts.allSatisfy { $0.application.state == .notRunning })
  }

  // MARK: Journals

  /// A journal in memory, in the format of the records, with a fault if one is wanted.
  private struct MemoryJournal: JournalContract.Subject {
    var text = ""
    var forgets: Range<Int> = 0..<0
    var appended = 0

    mutating func append(_ record: LifecycleRecord) {
      appended += 1
      if !forgets.contains(appended) { text += record.jsonLine + "\n" }
    }
    mutating func reopen() {}
    func read() throws -> [LifecycleRecord] {
      try text.split(separator: "\n").map { try #require(LifecycleRecord(jsonLine: String($0))) }
    }
  }

  @Test func `what is written as JSON Lines is read back as it was`() throws {
    #expect(try JournalContract.violations { MemoryJournal() } == [])
  }

  @Test func `a journal that loses a record is found out`() throws {
    #expect(try !JournalContract.violations { MemoryJournal(forgets: 7..<8) }.isEmpty)
  }

  @Test(
    arguments: [
      #"{}"#, #"{"t":"0","kind":"input","name":"a","state":"active","scene":null,"cause":"a"}"#,
      #"{"t":0,"kind":"none","name":"a","state":"active","scene":null,"cause":"a"}"#,
      #"{"t":1e300,"kind":"input","name":"a","state":"active","scene":null,"cause":"a"}"#,
      #"{"t":0,"kind":"input","name":"a","state":"asleep","scene":null,"cause":"a"}"#, "[]", "",
    ])
  func `what is no record is refused`(line: String) { #expect(LifecycleRecord(jsonLine: line) == nil) }

  // MARK: Replay

  @Test(
    arguments: [
      "launch; home; wait:1d; open", "passcode:on; launch; lock; wait:5s; unlock; kill; open; wait:300ms",
      "interrupt:a.b-c; launch; home; home; end:a.b-c; wait:4999ms; wait:1ms; fetch",
      // Time that passes inside a call comes again with the call.
      "launch; slow:didEnterBackground:4s; home; open", "launch; slow:didBecomeActive:2s; interrupt:call; end:call",
    ])
  func `a simulator's trace is replayed record by record`(text: String) async throws {
    let first = try await SimulatedSystem().play(text)
    let lines = try first.jsonLines.split(separator: "\n").map { try #require(LifecycleRecord(jsonLine: String($0))) }
    let again = try await SimulatedSystem().play(try Script(replaying: lines))
    #expect(again.jsonLines == first.jsonLines)
  }

  @Test func `in the trace of a real run the time between inputs is waited for`() throws {
    func record(_ seconds: Double, _ kind: LifecycleRecord.Kind, _ name: String) -> LifecycleRecord {
      LifecycleRecord(
        instant: .seconds(seconds), kind: kind, name: name, state: .active, cause: LifecycleCause(rawValue: name))
    }
    let script = try Script(replaying: [
      record(2, .input, "launch"), record(2.5, .state, "inactive"), record(4.0004, .input, "home"),
      record(4.001, .input, "open"), record(4.5, .input, "lock"), record(10, .state, "suspended"),
    ])
    #expect(
      script.actions.map(\.token) == [
        "launch", "wait:2000ms", "home", "wait:1ms", "open", "wait:499ms", "lock", "wait:5500ms",
      ])
    #expect(script.actions.map(\.line) == [1, 3, 3, 4, 4, 5, 5, 6])
  }

  @Test func `an input that is no action is a mistake with its place`() {
    let record = LifecycleRecord(instant: .zero, kind: .input, name: "SIGTERM", state: .active, cause: "SIGTERM")
    let error = #expect(throws: ScriptError.self) { try Script(replaying: [record]) }
    #expect(error?.description == "1:1: unknown action \"SIGTERM\"")
  }
}
