import Testing

@testable import UnixHost

/// In which order the host hears of logind and its news, and which news it never hears.
@Suite struct LogindEventsTests {
  private let terms = LogindStateMachine.Terms(delay: .seconds(5))

  @Test func newsFollowTheIntroduction() {
    var events = LogindEvents()
    events.append(.sleep(true))
    #expect(events.take() == [])
    events.introduce(terms)
    events.append(.sleep(false))
    #expect(events.take() == [.connected(terms), .news([.sleep(true), .sleep(false)])])
    #expect(events.take() == [])
  }

  /// Else the machine would sleep, and no event would wake it.
  @Test func newsOfALogindThatIsLostBeforeItsIntroductionAreDropped() {
    var events = LogindEvents()
    events.append(.sleep(true))
    events.lose()
    events.introduce(terms)
    #expect(events.take() == [.connected(terms)])
  }

  @Test func newsBeforeALossPrecedeIt() {
    var events = LogindEvents()
    events.introduce(terms)
    events.append(.lock(true))
    events.lose()
    #expect(events.take() == [.connected(terms), .news([.lock(true)]), .disconnected])
    events.lose()
    #expect(events.take() == [])
  }
}
