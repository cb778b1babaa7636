public import AppLifecycle

/// The duties of a host toward its application, as scenarios that a test runs on a host of your own.
///
/// A host notices events that happen to a program, and sends them to an application as inputs. The contract makes these
/// events happen through a ``Subject``. It checks the state of the application after each event, and the record of each
/// scenario against ``LifecycleRecordRules``.
///
///     let report = try await HostContract.check { MyHostSubject() }
///     #expect(report.violations.isEmpty)
///     #expect(report.missing == [.suspend, .sleep])  // a window is never stopped
///
/// `MyHostSubject` is a type of your test: a host around an application of its own, with a double of the window or
/// device. Its `perform` makes the double report the event to the host, in as many steps as your system takes. If the
/// host sends its inputs without waiting, `perform` also waits for the application's `transitionEnded`, which
/// `application.observe` reports; on a `ManualClock`, `settle()` does that. A double that calls the host on a thread of
/// its own does so inside `clock.external { … }`. If `ProcessHost` runs your process, leave it
/// out of the test. In its place `perform` sends the input that launches the application for ``Event/launch``, and
/// `SystemInput.wake` and `SystemInput.shutDown` for ``Event/shutDown``.
///
/// Each scenario begins with ``Event/launch`` and ends with ``Event/shutDown``. Every host must support these two. Unless
/// the application is suspended at its end, the scenario is run again with ``Event/terminate`` as its end.
///
/// | between the launch and the end | shows |
/// | --- | --- |
/// | nothing | the two ends: with the question to the delegate, and without |
/// | `loseFocus`; with `regainFocus` after it | inactive and active again |
/// | `leave`; with `comeBack` after it | background and active again |
/// | `leave`, `suspend` | an end while suspended: the host wakes the application first |
/// | `leave`, `suspend`, `comeBack`, once and twice | the return from suspension |
/// | `sleep`; `sleep`, `comeBack`, `sleep` | an end while suspended, where one event leaves and suspends |
/// | `sleep`, `comeBack`, once and twice | the return from that suspension |
/// | `loseFocus`, `leave` or `sleep`, `comeBack`, `regainFocus` | an interruption that outlasts the background |
/// | `shortMemory`, `leave`, `shortMemory`, `comeBack`, `shortMemory` | one warning each time |
/// | `shortMemory`, `sleep`, `comeBack`, `shortMemory` | the same, with a suspension in between |
///
/// Where focus and visibility return together, `comeBack` may also end the loss of focus; `regainFocus` then changes nothing.
///
/// A system need not have every event: a window is never suspended, and a device may leave and suspend in one. The
/// scenarios with events that ``Subject/perform(_:)`` refuses are in ``Report/notPlayed``. Compare ``Report/missing`` with
/// the events that your system lacks, so that the test fails if a scenario is left out by mistake.
public enum HostContract {
  /// An event that happens to a program.
  public enum Event: String, Sendable, Hashable, CaseIterable {
    /// The user starts the program, in the foreground.
    case launch
    /// The program loses the focus, and stays visible.
    case loseFocus
    /// The program gets the focus again.
    case regainFocus
    /// The program goes to the background, and continues to run.
    case leave
    /// The system suspends the program, which is in the background already.
    case suspend
    /// The program leaves the foreground and is suspended, in one event, as when a device goes to sleep.
    case sleep
    /// The program comes back to the foreground, whether it was suspended or not.
    case comeBack
    /// The system is low on memory.
    case shortMemory
    /// The user ends the program: the delegate is asked, and agrees.
    case terminate
    /// The system ends the program, as by SIGTERM: the delegate is not asked.
    ///
    /// The program may be suspended at that moment. A host must wake it first, because a suspended application would
    /// end without any call.
    case shutDown
  }

  /// A host under test, with the application that it drives.
  @MainActor public protocol Subject {
    /// The application; the contract observes it.
    var application: Application { get }

    /// Makes an event happen to the program, for the host to notice, and returns when the transition has ended.
    ///
    /// - Parameter event: the event to make happen.
    /// - Returns: false if the host's system has no such event; the scenario then ends with ``Event/shutDown``, and is
    ///   reported as not played.
    /// - Throws: an error that prevents the scenario from running.
    func perform(_ event: Event) async throws -> Bool
  }

  /// The result of a check.
  public struct Report: Sendable, Hashable, CustomStringConvertible {
    /// The broken rules; empty if the host keeps the contract.
    public internal(set) var violations: [ContractViolation] = []
    /// The scenarios that were not played to their end, because the host's system lacks one of their events.
    public internal(set) var notPlayed: [[Event]] = []
    /// The events that the host's system lacks: those for which ``Subject/perform(_:)`` returned false, and those that no
    /// scenario could reach because of them.
    public internal(set) var missing: Set<Event> = []
    /// The events that happened.
    fileprivate var played: Set<Event> = []

    /// The violations and the scenarios that were not played, a line each.
    public var description: String {
      let scenarios = notPlayed.map { "not played: \(HostContract.text($0))" }
      return (violations.map(\.description) + scenarios).joined(separator: "\n")
    }
  }

  /// The events of the scenarios, between the launch and the end.
  static let middles: [[Event]] = [
    [],
    [.loseFocus],
    [.loseFocus, .regainFocus],
    [.leave],
    [.leave, .comeBack],
    [.leave, .suspend],
    [.leave, .suspend, .comeBack],
    [.leave, .suspend, .comeBack, .leave, .suspend, .comeBack],
    [.sleep],
    [.sleep, .comeBack],
    [.sleep, .comeBack, .sleep],
    [.sleep, .comeBack, .sleep, .comeBack],
    [.loseFocus, .leave, .comeBack, .regainFocus],
    [.loseFocus, .sleep, .comeBack, .regainFocus],
    [.shortMemory, .leave, .shortMemory, .comeBack, .shortMemory],
    [.shortMemory, .sleep, .comeBack, .shortMemory],
  ]

  /// The scenarios; each is run on a host of its own.
  static let scenarios: [[Event]] = middles.flatMap { middle in
    // Systems differ in whether the user can end a suspended program.
    let ends: [Event] = middle.last?.suspends == true ? [.shutDown] : [.shutDown, .terminate]
    return ends.map { [.launch] + middle + [$0] }
  }

  /// Runs every scenario on a host of its own.
  ///
  /// - Parameter makeSubject: makes a host whose program has not been started.
  /// - Returns: the broken rules, and the scenarios that the host's system cannot play.
  /// - Throws: what the subject throws.
  @MainActor public static func check(_ makeSubject: () async throws -> any Subject) async throws -> Report {
    var report = Report()
    for scenario in scenarios { try await play(scenario, on: try await makeSubject(), into: &report) }
    report.missing.formUnion(Set(Event.allCases).subtracting(report.played))
    for event in [Event.launch, .shutDown] where report.missing.contains(event) {
      report.violations.append(ContractViolation(place: event.rawValue, message: "every host must support this event"))
    }
    return report
  }

  @MainActor private static func play(
    _ scenario: [Event], on subject: any Subject, into report: inout Report
  ) async throws {
    let record = Recording()
    let token = subject.application.observe(label: "host contract") { event in
      if let new = event.record, new.kind != .input, new.kind != .ignored { record.records.append(new) }
    }
    defer { token.cancel() }
    var done: [Event] = []
    var lastBegan = 0
    for event in scenario {
      let before = record.records.count
      guard try await subject.perform(event) else {
        report.missing.insert(event)
        report.notPlayed.append(scenario)
        if event != .launch, event != .shutDown { _ = try await subject.perform(.shutDown) }
        break
      }
      done.append(event)
      report.played.insert(event)
      let news = record.records[before...]
      var messages = [complaint(about: event, done, subject.application.state, news)]
      // A process that was really stopped can report its suspension only when it runs again.
      if done.dropLast().last?.suspends == true, !Array(record.records[lastBegan...]).states.contains(.suspended) {
        messages.append("follows a suspension of which the application was not told")
      }
      lastBegan = before
      report.violations += messages.compactMap(\.self).map { ContractViolation(place: text(done), message: $0) }
    }
    report.violations += record.records.violations.map {
      ContractViolation(place: "\(text(done)): \($0.place)", message: $0.message)
    }
  }

  private static func text(_ events: [Event]) -> String { events.map(\.rawValue).joined(separator: ", ") }

  @MainActor private final class Recording {
    var records: [LifecycleRecord] = []
  }

  /// Returns a message about a fault after an event; nil if there is none.
  private static func complaint(
    about event: Event, _ done: [Event], _ state: ApplicationState, _ news: ArraySlice<LifecycleRecord>
  ) -> String? {
    // A program that has lost the focus may come back to the foreground without it, inactive.
    let lacksFocus = (done.lastIndex(of: .loseFocus) ?? -1) > (done.lastIndex(of: .regainFocus) ?? -1)
    let expected: [ApplicationState] =
      switch event {
      case .launch, .regainFocus: [.active]
      case .loseFocus: [.inactive]
      case .leave: [.background]
      // A process that was really stopped can report its suspension only when it runs again.
      case .suspend, .sleep: [.background, .suspended]
      case .comeBack: lacksFocus ? [.active, .inactive] : [.active]
      case .shortMemory, .terminate, .shutDown: []
      }
    if !expected.isEmpty, !expected.contains(state) {
      return "leads to \(state.rawValue), not to \(expected.map(\.rawValue).joined(separator: " or "))"
    }
    switch event {
    case .shortMemory:
      let warnings = news.count { $0.name == ApplicationCallback.didReceiveMemoryWarning.rawValue }
      return warnings == 1 ? nil : "leads to \(warnings) memory warnings instead of one"
    case .terminate, .shutDown:
      let calls = news.count { $0.name == ApplicationCallback.willTerminate.rawValue }
      let questions = news.count { $0.name == ApplicationCallback.shouldTerminate.rawValue }
      let wanted = event == .terminate ? 1 : 0
      if questions != wanted { return "shouldTerminate is called \(questions) times instead of \(wanted)" }
      if calls != 1 { return "willTerminate is called \(calls) times instead of once" }
      return state == .notRunning ? nil : "leaves the application \(state.rawValue)"
    case .launch, .loseFocus, .regainFocus, .leave, .suspend, .sleep, .comeBack: return nil
    }
  }
}

extension HostContract.Event {
  /// Whether the program is suspended after the event.
  fileprivate var suspends: Bool { self == .suspend || self == .sleep }
}
