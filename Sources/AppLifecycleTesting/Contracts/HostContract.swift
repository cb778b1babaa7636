public import AppLifecycle

/// The duties of a host toward its application, as scenarios that a test runs on a host of your own.
///
/// A host notices events that happen to a program, and sends them to an application as inputs. The contract makes these
/// events happen through a ``Subject``. It checks the state of the application after each event, and the record of each
/// scenario against ``LifecycleRecordRules``.
///
///     #expect(try await HostContract.violations { MyHostSubject() }.isEmpty)
///
/// `MyHostSubject` is a type of your test: a host around an application of its own, with a double of the window or
/// device. Its `perform` makes the double report the event to the host, in as many steps as your system takes. If the
/// host sends its inputs without waiting, `perform` also waits for the application's `transitionEnded`, which `observe`
/// reports. Every host must support ``Event/launch`` and ``Event/shutDown``.
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
    /// The system suspends the program in the background.
    case suspend
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
    /// - Returns: false if the host's system has no such event; the scenario then ends with ``Event/shutDown``.
    /// - Throws: an error that prevents the scenario from running.
    func perform(_ event: Event) async throws -> Bool
  }

  /// The scenarios; each is run on a host of its own.
  static let scenarios: [[Event]] = [
    [.launch, .terminate],
    [.launch, .loseFocus, .regainFocus, .terminate],
    [.launch, .loseFocus, .terminate],
    [.launch, .leave, .comeBack, .terminate],
    [.launch, .leave, .terminate],
    [.launch, .shutDown],
    [.launch, .leave, .shutDown],
    [.launch, .leave, .suspend, .shutDown],
    [.launch, .leave, .suspend, .comeBack, .terminate],
    [.launch, .leave, .suspend, .comeBack, .leave, .suspend, .comeBack, .terminate],
    [.launch, .loseFocus, .leave, .comeBack, .regainFocus, .terminate],
    [.launch, .shortMemory, .leave, .shortMemory, .comeBack, .shortMemory, .terminate],
  ]

  /// Runs every scenario on a host of its own.
  ///
  /// - Parameter makeSubject: makes a host whose program has not been started.
  /// - Returns: the broken rules; empty if the host keeps the contract.
  /// - Throws: what the subject throws.
  @MainActor public static func violations(
    of makeSubject: () async throws -> any Subject
  ) async throws -> [ContractViolation] {
    var violations: [ContractViolation] = []
    for scenario in scenarios { violations += try await self.violations(of: try await makeSubject(), in: scenario) }
    return violations
  }

  @MainActor private static func violations(
    of subject: any Subject, in scenario: [Event]
  ) async throws -> [ContractViolation] {
    let record = Recording()
    let token = subject.application.observe(label: "host contract") { event in
      if let new = event.record, new.kind != .input, new.kind != .ignored { record.records.append(new) }
    }
    defer { token.cancel() }
    var violations: [ContractViolation] = []
    var done: [Event] = []
    for event in scenario {
      let before = record.records.count
      guard try await subject.perform(event) else {
        if event == .launch || event == .shutDown {
          violations.append(ContractViolation(place: event.rawValue, message: "every host must support this event"))
        } else {
          _ = try await subject.perform(.shutDown)
        }
        break
      }
      done.append(event)
      let place = done.map(\.rawValue).joined(separator: ", ")
      let news = record.records[before...]
      if let message = complaint(about: event, done, subject.application.state, news) {
        violations.append(ContractViolation(place: place, message: message))
      }
    }
    let place = done.map(\.rawValue).joined(separator: ", ")
    violations += record.records.violations.map {
      ContractViolation(place: "\(place): \($0.place)", message: $0.message)
    }
    return violations
  }

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
      case .suspend: [.background, .suspended]
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
    default: return nil
    }
  }
}
