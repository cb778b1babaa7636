import AppLifecycle
import AppLifecycleTesting
import LifecycleJournal

/// `lifecycle simulate`: plays a script on a simulated system with a bare application, and prints the record.
struct SimulateCommand: Action {
  /// The source of the script.
  enum Source: Equatable {
    case standardInput
    case argument(String)
    /// A recorded run, in a file; `-` is standard input.
    case trace(String)
  }

  /// The format of the printed record.
  enum Format: String, CaseIterable {
    case table
    case jsonl
  }

  /// The life cycle that the application follows, one of the platform's two.
  enum Profile: String, CaseIterable {
    case app
    case scene
  }

  var source: Source = .standardInput
  var format: Format = .table
  /// The profile; nil for the one that a trace shows, or the app-based one for a script.
  var profile: Profile?

  init(_ arguments: inout Arguments) throws(UsageError) {
    while let option = try arguments.nextOption() {
      switch option {
      case "--format": format = try arguments.choice(of: option)
      case "--profile": profile = try arguments.choice(of: option) as Profile
      default: source = .trace(try arguments.value(of: option, "a file"))
      }
    }
    let scripts = arguments.operands
    guard scripts.count <= 1 else {
      throw UsageError("one script is expected, not \(scripts.count); put it in quotes: 'launch; home'")
    }
    guard let script = scripts.first else { return }
    guard source == .standardInput else { throw UsageError("a script and --replay exclude each other") }
    if script != "-" { source = .argument(script) }
  }

  /// Plays the script; prints nothing on standard output unless the whole script can be played.
  @MainActor func run() async throws -> ExitStatus {
    var profile = profile ?? .app
    var configuration = Application.Configuration()
    let script: Script
    switch source {
    case .standardInput: script = try Script(try StandardStreams.readInput())
    case .argument(let text): script = try Script(text)
    case .trace(let path):
      let trace = try Trace(path)
      if self.profile == nil, trace.records.contains(where: { $0.scene != nil }) { profile = .scene }
      // A host suspends its program by an input only, and keeps it awake without one.
      if !trace.records.suspendsByTime { configuration.backgroundStay = .foreignLimit }
      script = try Script(replaying: trace.records, lines: trace.lines)
    }
    let system = SimulatedSystem(profile: profile == .scene ? .scenes : .application, configuration: configuration)
    // A test's own actions are ignored in the record of a test, and are a mistake in a script.
    if case .trace = source {} else { try system.requireActions(of: script) }
    let record = try await system.play(script)
    // Every reader of records refuses such a time.
    if let last = record.last, last.instant >= .foreignLimit {
      throw Complaint(
        "lifecycle: the script lasts 10^12 seconds or more, and no record may have such a time", .badScript)
    }
    switch format {
    case .table: try StandardStreams.write(record.table, to: .output)
    case .jsonl: try StandardStreams.write(record.jsonLines, to: .output)
    }
    return .success
  }
}
