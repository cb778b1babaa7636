#if Logind && os(Linux)
  import LibC

  /// A connection to logind over the system bus.
  ///
  /// It first asks for logind's owner on the bus. Then it asks for logind's delay, for a sleep or shutdown in
  /// preparation, and for the session of this process. Logind counts as connected when the last of these answers has
  /// arrived.
  ///
  /// If there was no bus at the beginning, the connection does not try again. If a bus was lost, it tries again with
  /// growing delays. The bus reports when logind leaves or returns.
  final class LogindBus: LogindConnection {
    private static let service = "org.freedesktop.login1"
    private static let managerInterface = "org.freedesktop.login1.Manager"
    private static let sessionInterface = "org.freedesktop.login1.Session"
    private static let propertiesInterface = "org.freedesktop.DBus.Properties"
    private static let managerPath = "/org/freedesktop/login1"
    private static let driver = SystemBus.Object(
      destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")
    private static let manager = SystemBus.Object(
      destination: service, path: managerPath, interface: managerInterface)
    private static let managerProperties = SystemBus.Object(
      destination: service, path: managerPath, interface: propertiesInterface)

    private static let firstPatience = Duration.seconds(1)
    private static let lastPatience = Duration.seconds(64)

    /// The purpose of a call.
    private enum Question {
      case match
      case owner
      case delay
      case sleep
      case shutdown
      case session
      case inhibitor

      /// Whether logind counts as connected only after the answer.
      var isIntroduction: Bool {
        switch self {
        case .delay, .sleep, .shutdown, .session: true
        case .match, .owner, .inhibitor: false
        }
      }
    }

    private var bus: SystemBus?
    private var questions: [SystemBus.Cookie: Question] = [:]
    /// Logind's own name on the bus; messages from other senders are ignored.
    private var owner: String?
    private var terms = LogindStateMachine.Terms(delay: .seconds(5))
    private var session: String?
    /// The sessions whose signals this connection to the bus receives: a rule that is added again counts again.
    private var matchedSessions: Set<String> = []
    private var inhibitor: Int32 = -1

    private var events = LogindEvents()

    private var absence: String? = "logind has not answered yet"
    private var sessionFailure: String?
    private var inhibitorFailure: String?

    private var wasEverConnected = false
    private var patience = firstPatience
    private var retryTime: SuspendingClock.Instant?

    deinit { releaseInhibitor() }

    // MARK: For the host's thread

    var descriptor: pollfd { bus?.descriptor ?? pollfd(fd: -1, events: 0, revents: 0) }

    var deadline: SuspendingClock.Instant? { bus == nil ? retryTime : bus?.deadline }

    var availability: HostCapability.Availability {
      if let absence { return .unavailable(absence) }
      let flaws = [
        sessionFailure.map { "locks are not reported: \($0)" }, inhibitorFailure.map { "no inhibitor: \($0)" },
      ].compactMap { $0 }
      return .available((["logind"] + flaws).joined(separator: "; "))
    }

    func begin() { open() }

    func take() -> [LogindStateMachine.Event] {
      if bus == nil, let time = retryTime, .now >= time { open() }
      do {
        while let message = try bus?.next() { try take(message) }
      } catch {
        lose(error)
      }
      return events.take()
    }

    func requestInhibitor() {
      let program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "program"
      do {
        try ask(
          .inhibitor, "Inhibit", of: Self.manager, ["sleep:shutdown", program, "Releases its resources", "delay"])
      } catch {
        lose(error)
      }
    }

    func releaseInhibitor() {
      if inhibitor >= 0 { LibC.close(inhibitor) }
      inhibitor = -1
    }

    func close() {
      releaseInhibitor()
      (bus, retryTime, absence) = (nil, nil, "the host has ended")
    }

    // MARK: Connecting

    private func open() {
      retryTime = nil
      do {
        bus = try SystemBus()
        try match("sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.service)'")
        try match("sender='\(Self.service)',interface='\(Self.managerInterface)',member='PrepareForSleep'")
        try match("sender='\(Self.service)',interface='\(Self.managerInterface)',member='PrepareForShutdown'")
        try ask(.owner, "GetNameOwner", of: Self.driver, [Self.service])
      } catch {
        lose(error)
      }
    }

    /// Handles a bus that is gone, or was never there.
    private func lose(_ failure: SystemBus.Failure) {
      loseLogind("the system bus: \(failure.reason)")
      (bus, questions, matchedSessions) = (nil, [:], [])
      guard wasEverConnected else { return }
      retryTime = .now + patience
      patience = min(patience * 2, Self.lastPatience)
    }

    private func loseLogind(_ reason: String) {
      absence = reason
      (owner, session) = (nil, nil)
      // Answers that still arrive are those of the former logind.
      questions = questions.filter { $0.value == .match }
      events.lose()
    }

    private func ask(
      _ question: Question, _ method: String, of object: SystemBus.Object, _ arguments: [String]
    ) throws(SystemBus.Failure) {
      guard let bus else { return }
      questions[try bus.call(method, of: object, arguments)] = question
    }

    private func match(_ rule: String) throws(SystemBus.Failure) {
      try ask(.match, "AddMatch", of: Self.driver, ["type='signal'," + rule])
    }

    private func introduce(to owner: String) throws(SystemBus.Failure) {
      self.owner = owner
      terms = LogindStateMachine.Terms(delay: .seconds(5))
      (sessionFailure, inhibitorFailure) = (nil, nil)
      func askFor(_ question: Question, _ property: String) throws(SystemBus.Failure) {
        try ask(question, "Get", of: Self.managerProperties, [Self.managerInterface, property])
      }
      try askFor(.delay, "InhibitDelayMaxUSec")
      try askFor(.sleep, "PreparingForSleep")
      try askFor(.shutdown, "PreparingForShutdown")
      // This is the session of this process, or, without one, the session in which its user works at the machine.
      try ask(.session, "GetSession", of: Self.manager, ["auto"])
    }

    // MARK: Messages

    private func take(_ message: BusMessage) throws(SystemBus.Failure) {
      if let cookie = message.answeredCall {
        guard let question = questions.removeValue(forKey: cookie) else { return }
        try take(answer: message, to: question)
      } else if message.isSignal("NameOwnerChanged", of: Self.driver.interface) {
        guard message.sender == Self.driver.destination else { return }
        try takeChangeOfOwner(message)
      } else if let owner, message.sender == owner {
        takeNews(message)
      }
    }

    private func takeChangeOfOwner(_ message: BusMessage) throws(SystemBus.Failure) {
      guard message.readString() == Self.service, message.readString() != nil, let next = message.readString(),
        next != owner ?? ""
      else { return }
      loseLogind("logind is not running")
      if !next.isEmpty { try introduce(to: next) }
    }

    private func take(answer: BusMessage, to question: Question) throws(SystemBus.Failure) {
      let failure = answer.failure
      switch question {
      case .match: if let failure { absence = failure.reason }
      case .owner:
        guard let name = answer.readString(), failure == nil else { return absence = "logind is not running" }
        try introduce(to: name)
      case .delay:
        if failure == nil, let delay = answer.readVariant("t", answer.readUnsigned) {
          terms.delay = .microseconds(Int64(clamping: delay))
        }
      case .sleep: if readsTrue(answer) { terms.news.append(.sleep(true)) }
      case .shutdown: if readsTrue(answer) { terms.news.append(.shutdown(true)) }
      case .session:
        if failure == nil, let path = answer.readPath() {
          try follow(path)
        } else {
          sessionFailure = failure?.reason ?? "there is no session"
        }
      case .inhibitor: takeInhibitor(answer)
      }
      if question.isIntroduction { finishIntroduction() }
    }

    private func readsTrue(_ answer: BusMessage) -> Bool {
      answer.failure == nil && answer.readVariant("b", answer.readBool) == true
    }

    private func follow(_ session: String) throws(SystemBus.Failure) {
      self.session = session
      guard matchedSessions.insert(session).inserted else { return }
      let sender = "sender='\(Self.service)',path='\(session)'"
      try match("\(sender),interface='\(Self.sessionInterface)',member='Lock'")
      try match("\(sender),interface='\(Self.sessionInterface)',member='Unlock'")
      try match(
        "\(sender),interface='\(Self.propertiesInterface)',member='PropertiesChanged',arg0='\(Self.sessionInterface)'")
    }

    private func finishIntroduction() {
      guard !events.hasIntroduced, !questions.values.contains(where: \.isIntroduction) else { return }
      (wasEverConnected, absence) = (true, nil)
      patience = Self.firstPatience
      events.introduce(terms)
    }

    private func takeInhibitor(_ answer: BusMessage) {
      if answer.failure == nil, let descriptor = answer.readDescriptor() {
        releaseInhibitor()
        inhibitor = descriptor
        inhibitorFailure = nil
        events.append(.inhibitorObtained)
      } else {
        inhibitorFailure = answer.failure?.reason ?? String(cString: strerror(errno))
        events.append(.inhibitorRefused)
      }
    }

    private func takeNews(_ message: BusMessage) {
      if message.isSignal("PrepareForSleep", of: Self.managerInterface) {
        if let isBeginning = message.readBool() { events.append(.sleep(isBeginning)) }
      } else if message.isSignal("PrepareForShutdown", of: Self.managerInterface) {
        if let isBeginning = message.readBool() { events.append(.shutdown(isBeginning)) }
      } else if message.path == session {
        takeNewsOfSession(message)
      }
    }

    /// A desktop may lock without a request from logind, and be unlocked with a password; the hint reports both.
    private func takeNewsOfSession(_ message: BusMessage) {
      if message.isSignal("Lock", of: Self.sessionInterface) {
        events.append(.lock(true))
      } else if message.isSignal("Unlock", of: Self.sessionInterface) {
        events.append(.lock(false))
      } else if message.isSignal("PropertiesChanged", of: Self.propertiesInterface),
        message.readString() == Self.sessionInterface,
        let isLocked = message.readEntry("LockedHint", "b", message.readBool)
      {
        events.append(.lock(isLocked))
      }
    }
  }
#endif
