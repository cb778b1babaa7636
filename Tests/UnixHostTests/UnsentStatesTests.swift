import Testing

@testable import UnixHost

/// What a service manager is told late, because it had no room before.
@Suite struct UnsentStatesTests {
  @Test func theStatesArriveInOrder() {
    var unsent = UnsentStates()
    for state in ["RELOADING", "READY"] { unsent.append(state) }
    var room = 1
    var sent: [String] = []
    let send: (String) -> Bool = { state in
      guard room > 0 else { return false }
      room -= 1
      sent.append(state)
      return true
    }
    unsent.retry(send)
    #expect(sent == ["RELOADING"] && !unsent.isEmpty)
    room = 2
    unsent.retry(send)
    #expect(sent == ["RELOADING", "READY"] && unsent.isEmpty)
  }

  @Test func ofAManagerThatNeverReadsTheLatestAreKept() {
    var unsent = UnsentStates()
    for number in 1...10 { unsent.append("\(number)") }
    var sent: [String] = []
    unsent.retry {
      sent.append($0)
      return true
    }
    #expect(sent == ["7", "8", "9", "10"])
  }
}
