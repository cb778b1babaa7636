public import AppLifecycle
import Scheduling

extension Script {
  /// Makes the script that repeats the inputs of a recorded run, at the same times.
  ///
  /// The script plays the inputs of the records in order. A record of a simulator may contain actions that no real system
  /// takes (`wait:`, `host:`, `slow:`, `fail:`, `task:`, `mode:`, `do:`). Such a record holds each wait, and the script waits
  /// as it does. Otherwise the script plays each input as long after its beginning as the record shows, to the
  /// millisecond. So it waits only for the time that the application's own work leaves; if that work takes longer than
  /// in the record, the next input is late. Whether the run goes the same way again is for the application to say.
  /// Compare the `callbacks` of the two records: times may differ. If the test advanced the clock itself
  /// (``ManualClock/advance(by:)``), a record that holds its waits does not hold that time, and neither does the script.
  ///
  /// A host keeps a service, or a job of a terminal, awake in the background, and no input says so. Play the record of a
  /// host on a system with a long `Application.Configuration.backgroundStay`.
  ///
  /// - Parameter records: a recorded run, of a simulator or of a host; only its inputs and its times are read.
  /// - Throws: a ``ScriptError`` for the first input that is not an action of the script language; its line is the
  ///   number of the record, from 1.
  /// - Complexity: linear in the number of records.
  public init(replaying records: some Sequence<LifecycleRecord>) throws(ScriptError) {
    let records = Array(records)
    try self.init(replaying: records, lines: records.indices.map { $0 + 1 })
  }

  /// Makes the script of these records, whose errors name these lines.
  package init(replaying records: [LifecycleRecord], lines: [Int]) throws(ScriptError) {
    let holdsItsWaits = records.contains { $0.kind == .input && $0.isOfSimulator }
    var actions: [ScriptAction] = []
    let start = records.first?.instant ?? .zero
    var time = start
    for (index, record) in records.enumerated() where record.kind == .input || index == records.count - 1 {
      if !holdsItsWaits, let (action, length) = ScriptAction.wait(upTo: record.instant - time, line: lines[index]) {
        var wait = action
        time += length
        wait.end = time - start
        actions.append(wait)
      }
      if record.kind == .input { actions.append(try ScriptAction(replaying: record, line: lines[index])) }
    }
    self.init(actions)
  }
}

extension Sequence<LifecycleRecord> {
  /// Whether the application was suspended after its time in the background, as on a phone, and not by an input.
  package var suspendsByTime: Bool {
    var isByInput = false
    for record in self {
      if record.kind == .input { isByInput = ["suspend", "host:stop"].contains(record.name) }
      if record.kind == .state, record.name == ApplicationState.suspended.rawValue, !isByInput { return true }
    }
    return false
  }
}

extension LifecycleRecord {
  /// Whether the record names an action of scripts that no real system takes.
  fileprivate var isOfSimulator: Bool {
    switch try? ScriptAction.Kind(token: name) {
    case .wait, .hostStop, .hostEnd, .slow, .failSave, .beginTask, .endTask, .beginMode, .endMode, .own: true
    case .input, nil: false
    }
  }
}

extension ScriptAction {
  fileprivate init(replaying record: LifecycleRecord, line: Int) throws(ScriptError) {
    do throws(ScriptError.Problem) {
      self.init(kind: try Kind(token: record.name), token: record.name, line: line, column: 1)
    } catch {
      throw ScriptError(line: line, column: 1, token: record.name, problem: error)
    }
  }

  /// Returns the action to play at a time after the beginning of its script: for a wait of a replay, the wait that is left,
  /// or nil if none is.
  func begun(at time: Duration) -> ScriptAction? {
    guard let end else { return self }
    return Self.wait(upTo: end - time, line: line)?.action
  }

  /// Returns the longest wait within a duration that a script can express; nil if there is none.
  fileprivate static func wait(upTo duration: Duration, line: Int) -> (action: ScriptAction, length: Duration)? {
    // Durations in scripts have 12 digits at most: 30 years in milliseconds, longer than any run.
    let milliseconds = min(duration.milliseconds, 999_999_999_999)
    guard milliseconds > 0 else { return nil }
    let length = Duration.milliseconds(milliseconds)
    return (ScriptAction(kind: .wait(length), token: "wait:\(milliseconds)ms", line: line, column: 1), length)
  }
}
