public import AppLifecycle

/// The rules that the record of every run keeps, whatever happens to the application.
///
///     #expect(system.record.violations.isEmpty)
///
/// Tests of hosts and journals and random tests check records against them. The rules read only the record:
///
/// - Every change of state is an allowed one.
/// - Callbacks come in the right order, and each sees the right state.
/// - Each notification directly follows its delegate call.
/// - No code is called while the application is suspended or not running.
/// - With scenes, the application's notifications come exactly when the aggregate of the scenes changes.
public struct LifecycleRecordRules: Sendable {
  /// The calls that the process has received so far; reset when the process ends.
  struct Told: Sendable, Hashable {
    var hasBegunLaunch = false
    var hasLaunched = false
    var isForeground = false
    var isActive = false
    var isTerminating = false
    /// Whether the delegate was asked for permission to end.
    var wasAsked = false
    /// Whether the application was launched into the background, and has since received neither a foreground nor a
    /// background call.
    var isNewInBackground = false
    /// The calls that each connected scene has received, in the order in which the scenes connected.
    var scenes: [SceneTold] = []

    /// The state of the application that follows from its most active scene.
    var aggregate: ApplicationState {
      if scenes.contains(where: \.isActive) { return .active }
      return scenes.contains(where: \.isForeground) ? .inactive : .background
    }
  }

  /// The calls that one scene has received.
  struct SceneTold: Sendable, Hashable {
    let id: String
    var isForeground = false
    var isActive = false
  }

  /// The life cycle that the application follows.
  let profile: LifecycleProfile
  var state = ApplicationState.notRunning
  var told = Told()
  /// The notification that must come next, before anything else.
  var owed: (name: String, scene: String?)?
  private var instant: Duration?
  private var number = 0
  private(set) var lastInput: LifecycleRecord?
  private(set) var found: [ContractViolation] = []

  /// Makes rules for a run that begins with an application that is not running.
  ///
  /// - Parameter profile: the life cycle that the application follows.
  public init(profile: LifecycleProfile) { self.profile = profile }

  /// The violations so far, in the order of the records.
  public var violations: [ContractViolation] { found }

  /// Checks the next record.
  ///
  /// - Parameter record: the next record of the run.
  /// - Complexity: linear in the number of connected scenes.
  public mutating func take(_ record: LifecycleRecord) {
    number += 1
    if let instant { expect(record.instant >= instant, "the time is earlier than that of the record before", record) }
    instant = record.instant
    let isOwed = owed != nil
    checkWhatIsOwed(record)
    if record.kind != .state { expect(record.state == state, "the state must be \(state.rawValue)", record) }
    switch record.kind {
    case .input:
      expect(record.cause.rawValue == record.name, "the cause of an input must be the input itself", record)
      // A script may act while the program ends by itself.
      if !told.isTerminating { for message in unrest { expect(false, message, record) } }
      lastInput = record
    case .ignored where record.reason == IgnoredReason.refused.rawValue: refuse(record)
    case .ignored:
      expect(record.reason?.isEmpty == false, "the ignored input has no reason", record)
      if let lastInput {
        expect(lastInput.name == record.name, "the ignored input must be the latest one, \(lastInput.name)", record)
      }
    case .state: commit(record)
    case .delegate: call(record)
    case .notification: post(record, isOwed: isOwed)
    case .task:
      // A suspended application refuses tasks, also those that a thread begins just before it stands still.
      let isPossible = state.runsCode || state == .suspended && record.name.hasPrefix("refused:")
      expect(isPossible, "a background task changes while the application is \(state.rawValue)", record)
    case .report:
      let isPossible =
        switch record.report?.kind {
        // Code that outlives its process may give cause for the first two; observers are also called while none runs.
        case .refusedEndlessly, .taskEndedTwice, .observerFailed: true
        default: state != .notRunning
        }
      expect(isPossible, "a report is made while no process runs", record)
    }
  }

  /// Ends the run, and checks that no launch, end or notification is incomplete.
  public mutating func end() {
    if let owed {
      found.append(ContractViolation(place: "the end", message: "the notification \(owed.name) was not posted"))
    }
    found += unrest.map { ContractViolation(place: "the end", message: $0) }
  }

  mutating func expect(_ isKept: Bool, _ message: String, _ record: LifecycleRecord) {
    guard !isKept else { return }
    found.append(ContractViolation(place: "record \(number), \(record.jsonLine)", message: message))
  }

  /// Checks that a notification directly follows its call; only records of the called delegate's own work may come
  /// between them.
  private mutating func checkWhatIsOwed(_ record: LifecycleRecord) {
    guard let owed, record.kind != .task, record.kind != .report else { return }
    let isIt = record.kind == .notification && record.name == owed.name && record.scene == owed.scene
    expect(isIt, "the notification \(owed.name) must be posted first", record)
    self.owed = nil
  }

  /// The steps that are incomplete at a point where none may be, such as between two inputs.
  var unrest: [String] {
    var unrest: [String] = []
    if told.hasBegunLaunch != told.hasLaunched { unrest.append("the launch is not complete") }
    if told.isTerminating { unrest.append("the end of the application is not complete") }
    if told.isActive != (state == .active) {
      let missing = told.isActive ? ApplicationCallback.willResignActive : .didBecomeActive
      unrest.append("the state is \(state.rawValue), but \(missing.shortName) was not called")
    }
    if told.isForeground != state.isForeground {
      let missing = told.isForeground ? ApplicationCallback.didEnterBackground : .willEnterForeground
      unrest.append("the state is \(state.rawValue), but \(missing.shortName) was not called")
    }
    guard profile == .scenes else { return unrest }
    if told.isActive != told.scenes.contains(where: \.isActive) {
      unrest.append(
        told.isActive
          ? "the application is active, but no scene is"
          : "a scene is active, but the application is not")
    }
    if told.isForeground != told.scenes.contains(where: \.isForeground) {
      unrest.append(
        told.isForeground
          ? "the application is in the foreground, but no scene is"
          : "a scene is in the foreground, but the application is not")
    }
    return unrest
  }

  /// Checks a refusal by the delegate, which may come long after the input.
  ///
  /// Each input that waited for the answer is ignored.
  private mutating func refuse(_ record: LifecycleRecord) {
    expect(record.name == SystemInput.terminate.scriptToken, "the delegate can refuse only terminate", record)
    expect(told.wasAsked, "the input is refused, but the delegate was not asked", record)
  }

  private mutating func commit(_ record: LifecycleRecord) {
    expect(record.name == record.state.rawValue, "the name of a state record must be its state", record)
    expect(record.scene == nil, "a record of the application's state must not name a scene", record)
    let isAllowed =
      switch (state, record.state) {
      case (.notRunning, .inactive): profile == .application
      case (.notRunning, .background), (.background, .suspended), (.suspended, .background): true
      case (.inactive, .active), (.active, .inactive), (.inactive, .background), (.background, .inactive): true
      case (let before, .notRunning): before != .notRunning
      default: false
      }
    expect(isAllowed, "\(state.rawValue) does not lead to \(record.state.rawValue)", record)
    state = record.state
    if profile == .scenes, state.runsCode {
      expect(state == told.aggregate, "the most active scene requires the state \(told.aggregate.rawValue)", record)
    }
    if state == .notRunning { told = Told() }
  }
}

extension [LifecycleRecord] {
  /// The violations of the life cycle's rules in these records of a whole run; empty if there are none.
  ///
  /// The run must begin with an application that is not running. The records show whether it has scenes.
  public var violations: [ContractViolation] {
    var rules = LifecycleRecordRules(profile: contains { $0.scene != nil } ? .scenes : .application)
    for record in self { rules.take(record) }
    rules.end()
    return rules.violations
  }
}
