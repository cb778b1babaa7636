import AppLifecycle
import AppLifecycleTesting
import Testing

/// The page of the script language has every action, and none that a script cannot have.
@Suite struct `The page of the script language` {
  private static let page = "Sources/AppLifecycleTesting/AppLifecycleTesting.docc/ScriptLanguage.md"

  /// The actions in the tables: the second column where the first is what a terminal does, else the first.
  private static var actions: [String] {
    get throws {
      var column = 0
      var actions: [String] = []
      for line in try Documentation.text(of: page).split(separator: "\n") where line.hasPrefix("|") {
        if line.hasSuffix("in a script |") { column = 1 }
        actions += line.split(separator: "|")[column].matches(of: /`([^`]+)`/).map { filled(String($0.1)) }
      }
      return actions
    }
  }

  /// An action, with something in the place of what the page leaves open.
  private static func filled(_ action: String) -> String {
    action.replacing("NAME", with: "call").replacing("ID", with: "main").replacing("DURATION", with: "5s")
      .replacing("CALL", with: "didEnterBackground")
  }

  @Test func `shows what can be played`() throws {
    for action in try Self.actions {
      #expect(throws: Never.self, "\(action)") { try Script(action) }
    }
  }

  @Test func `leaves no action out`() throws {
    let actions = Set(try Self.actions)
    let inputs: [SystemInput] = [
      .launch, .launchInBackground, .open, .home, .lock, .unlock, .setPasscode(true), .setPasscode(false),
      .beginInterruption(.call), .endInterruption(.call), .memoryWarning, .significantTimeChange, .fetch, .suspend,
      .wake, .terminate, .shutDown, .connectScene("main"), .openScene("main"), .sendSceneToBackground("main"),
      .unfocusScene("main"), .focusScene("main"), .reclaimScene("main"), .closeScene("main"),
    ]
    #expect(Set(inputs.map(\.scriptToken)).subtracting(actions).isEmpty)
    #expect(Set(DeviceInput.allCases.map(\.rawValue)).subtracting(actions) == ["purge"])
    let others = [
      "host:stop", "host:end", "wait:5s", "task:begin:call", "task:end:call", "mode:begin:call", "mode:end:call",
      "do:call",
    ]
    #expect(Set(others + ["slow:didEnterBackground:5s", "slow:save:5s", "fail:save"]).subtracting(actions).isEmpty)
  }
}
