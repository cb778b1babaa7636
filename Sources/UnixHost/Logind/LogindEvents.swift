/// The events of a connection to logind that the host has not taken yet.
///
/// It is a pure value. News that arrive before the introduction follow it. If logind is lost before that, they are
/// dropped, because no ``LogindStateMachine/Event/disconnected`` would take back a sleep that has no end.
struct LogindEvents: Sendable, Hashable {
  /// Whether logind counts as connected.
  private(set) var hasIntroduced = false
  private var events: [LogindStateMachine.Event] = []
  /// The news since the last event, or since the connection began.
  private var news: [LogindStateMachine.News] = []

  mutating func append(_ event: LogindStateMachine.Event) { events.append(event) }

  mutating func append(_ item: LogindStateMachine.News) { news.append(item) }

  /// Notes that logind has introduced itself.
  mutating func introduce(_ terms: LogindStateMachine.Terms) {
    hasIntroduced = true
    events.append(.connected(terms))
  }

  /// Notes that logind or the bus is gone.
  mutating func lose() {
    flushNews()
    news = []
    if hasIntroduced { events.append(.disconnected) }
    hasIntroduced = false
  }

  /// Removes and returns the events.
  mutating func take() -> [LogindStateMachine.Event] {
    flushNews()
    defer { events = [] }
    return events
  }

  private mutating func flushNews() {
    guard hasIntroduced else { return }
    if !news.isEmpty { events.append(.news(news)) }
    news = []
  }
}
