import Testing

@testable import UnixHost

/// The variables of socket activation: whose they are, and what is wrong with them.
@Suite struct ActivationEnvironmentTests {
  private func read(
    _ variables: [String: String], identifier: UInt64? = 70_000, isWithheld: Bool = false
  ) -> ActivationEnvironment {
    ActivationEnvironment(process: 42, identifier: { identifier }, isWithheld: isWithheld) { variables[$0] }
  }

  @Test func withoutAManagerThereIsNothing() {
    for variables in [[:], ["LISTEN_PID": "42"], ["LISTEN_FDS": "", "LISTEN_PID": "1"]] {
      let environment = read(variables)
      #expect(environment.count == 0 && environment.obstacle == nil)
    }
  }

  @Test func eachSocketHasItsName() {
    let environment = read(["LISTEN_PID": "42", "LISTEN_FDS": "3", "LISTEN_FDNAMES": "http::admin"])
    #expect(environment.count == 3 && environment.obstacle == nil)
    #expect(environment.descriptorNames == ["http", "", "admin"])
  }

  @Test(arguments: [nil, "", "a", "a:b:c"]) func namesThatDoNotFitAreUnknown(names: String?) {
    var variables = ["LISTEN_PID": "42", "LISTEN_FDS": "2"]
    variables["LISTEN_FDNAMES"] = names
    #expect(read(variables).descriptorNames == ["unknown", "unknown"])
  }

  @Test(arguments: [nil, "", "41", "-42", "+42", "42 ", "42x", "0x2a", "18446744073709551658", "4294967338"])
  func theSocketsOfAnotherProcessAreNotUsed(process: String?) {
    var variables = ["LISTEN_FDS": "1"]
    variables["LISTEN_PID"] = process
    let environment = read(variables)
    #expect(environment.count == 0 && environment.obstacle == .isForAnotherProcess)
  }

  /// A process number is used again, and a variable may have been inherited long ago.
  @Test(arguments: [("70000", 70_000, true), ("70001", 70_000, false), ("", 70_000, false), ("5", nil, true)])
  func theNumberThatIsNeverUsedAgainDecidesToo(text: String, identifier: UInt64?, isOurs: Bool) {
    let environment = read(["LISTEN_PID": "42", "LISTEN_FDS": "1", "LISTEN_PIDFDID": text], identifier: identifier)
    #expect(environment.obstacle == (isOurs ? nil : .isForAnotherProcess))
  }

  @Test(arguments: [
    "0", "-1", "+1", " 1", "1.0", "one", "2147483645", "2147483648", "4294967297", "99999999999999999999999999",
    "\u{1B}[2J", String(repeating: "9", count: 5_000),
  ])
  func aDamagedNumberIsNone(text: String) {
    let environment = read(["LISTEN_PID": "42", "LISTEN_FDS": text, "LISTEN_FDNAMES": "a"])
    #expect(environment.count == 0 && environment.obstacle == .damaged(text))
    #expect(environment.obstacle.map { "\($0)".count < 400 } == true)
  }

  @Test func theGreatestNumberIsReadWithoutATrap() {
    let environment = read(["LISTEN_PID": "42", "LISTEN_FDS": "2147483644"])
    #expect(environment.count == Int32.max - 3)
  }

  @Test func aProgramWithPrivilegesOfItsOwnIsToldWhy() {
    #expect(read([:], isWithheld: true).obstacle == .isWithheld)
  }
}
