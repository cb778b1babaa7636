@testable import AppLifecycle
import AppLifecycleTesting
import Testing

/// The words of the record format: each is the word of a value, and the value that it is read as.
@Suite struct `The words of records` {
  @Test func `of reports are read as they were written`() {
    #expect(
      LifecycleReport.Kind.allCases.map(\.rawValue) == [
        "watchdog", "backgroundTimeExpired", "taskEndedTwice", "refusedEndlessly", "observerFailed",
      ])
    for kind in LifecycleReport.Kind.allCases {
      for name in ["feed", "", "a:b", "watchdog:", "é\n", "\u{301}feed"] {
        let report = LifecycleReport(kind, name)
        #expect(report.recordName == "\(kind.rawValue):\(name)")
        #expect(LifecycleReport(recordName: report.recordName) == report)
      }
    }
  }

  @Test(arguments: ["", "watchdog", "Watchdog:feed", " watchdog:feed", "newReport:feed", ":feed"])
  func `of a newer version's reports are no report, and stay`(name: String) {
    let record = LifecycleRecord(
      instant: .zero, kind: .report, name: name, state: .background, cause: "newCause of feed")
    #expect(record.report == nil && record.name == name)
    #expect(record.jsonLine.contains(#""name":"\#(name)""#) && record.jsonLine.contains(#""cause":"newCause of feed""#))
  }

  @Test func `stand for a report in records of reports alone`() {
    let record = LifecycleRecord(instant: .zero, kind: .task, name: "watchdog:a", state: .background, cause: "home")
    #expect(record.report == nil)
  }

  @Test func `of operations make the cause of what they lead to`() {
    let causes = BudgetOverrun.Operation.allCases.map { LifecycleCause($0, of: "feed").rawValue }
    #expect(causes == ["acquire of feed", "release of feed", "end of feed"])
  }

  @Test func `of steps are read as they were written`() {
    #expect(
      CallStep.allCases.map(\.rawValue) == [
        "acquire", "release", "run", "check", "invalidate", "use", "run(while: .running)", "run(while: .foreground)",
        "run(while: .active)", "task", "every", "backgroundTask", "observe", "savedState",
      ])
    func step(_ kind: LedgerEntry.Kind, _ step: String) -> CallStep? {
      LedgerEntry(kind, "feed", step: step, began: .zero, duration: .zero).callStep
    }
    for known in CallStep.allCases { #expect(step(.resource, known.rawValue) == known) }
    #expect(step(.resource, "newStep") == nil)
    // The name of a program's own event may be any word.
    #expect(step(.subscriber, "release") == nil && step(.delegate, "release") == nil)
    for phase in LifecyclePhase.allCases {
      #expect(CallStep.body(while: phase).rawValue == "run(while: .\(phase))")
    }
  }

  @Test func `of actions of the device are read as they were written`() throws {
    #expect(
      DeviceInput.allCases.map(\.rawValue) == [
        "switcher", "switcher:return", "switcher:leave", "switcher:kill", "reclaim", "crash", "purge", "reboot",
      ])
    for action in DeviceInput.allCases where action != .purge {
      #expect(try Script(action.rawValue).actions.map(\.kind) == [.input(.device(action))])
    }
  }
}
