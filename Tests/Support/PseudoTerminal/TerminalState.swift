package import TerminalEmulation

/// Every mode of a terminal by its name, as its user's side finds it.
package struct TerminalState: Sendable, Hashable {
  /// The modes of the line discipline.
  package var modes: [String: String]
  /// The modes of the emulator, without those that are off.
  package var emulator: [String: String]

  package init(modes: [String: String] = [:], emulator: [String: String] = [:]) {
    (self.modes, self.emulator) = (modes, emulator)
  }

  /// The state of a terminal with these modes and this screen.
  package init(_ modes: TerminalModes, _ screen: TerminalScreen) {
    self.init(modes: modes.named, emulator: screen.named)
  }

  /// Names each mode that differs from the one in another state, in the order of the names.
  package func differences(from before: TerminalState) -> [String] {
    Self.differences(modes, before.modes) + Self.differences(emulator, before.emulator)
  }

  private static func differences(_ now: [String: String], _ before: [String: String]) -> [String] {
    Set(now.keys).union(before.keys).sorted().compactMap { name in
      let (value, then) = (now[name] ?? "off", before[name] ?? "off")
      return value == then ? nil : "\(name) is \(value), not \(then)"
    }
  }
}

extension TerminalScreen {
  /// Each mode of the emulator that a program can change, with its value as text; the private ones that are off are left out.
  package var named: [String: String] {
    var named: [String: String] = [
      "alternate screen": showsAlternate ? "on" : "off",
      "cursor shape": "\(cursorShape)",
      "scrolling region": scrollingRegion == 0...(rows - 1) ? "whole" : "\(scrollingRegion)",
      "keypad sequences": keypadSendsSequences ? "on" : "off",
      "modified keys": "\(modifiedKeyLevel)",
      "text attributes": "\(attributes.sorted())",
      "key flags of the main screen": "\(mainKeyFlags)",
      "key flags of the alternate screen": "\(alternateKeyFlags)",
      "titles that were saved": "\(savedTitles.count)",
    ]
    for number in modes { named[Self.name(ofMode: number)] = "on" }
    for number in standardModes { named["standard mode \(number)"] = "on" }
    return named
  }

  private static func name(ofMode number: Int) -> String {
    let names = [
      1: "cursor key sequences", 7: "automatic wrap", 12: "blinking cursor", 25: "cursor",
      47: "alternate screen of DEC",
      1004: "focus reports", 1047: "alternate screen of xterm", 1049: "alternate screen with saved cursor",
      2004: "bracketed paste", 2026: "synchronized output", 2031: "color scheme reports",
      2048: "size reports",
    ]
    let name = names[number] ?? (mouseModes.contains(number) ? "mouse reports" : "private mode")
    return "\(name) (?\(number))"
  }

  private static let mouseModes: Set<Int> = [9, 1000, 1001, 1002, 1003, 1005, 1006, 1015, 1016]

  /// What is left of a full-screen program: its screen, a hidden or another cursor, and what it asked to be told.
  ///
  /// Whether pastes are marked says nothing: shells ask for that at their own prompts.
  package var leftOvers: [String] {
    let reports = Self.mouseModes.union([1004, 2031]).intersection(modes).sorted().map(Self.name(ofMode:))
    let others = [
      ("alternate screen", showsAlternate), ("hidden cursor", !showsCursor), ("cursor shape", cursorShape != 0),
      ("key flags", !mainKeyFlags.isEmpty || !alternateKeyFlags.isEmpty), ("saved titles", !savedTitles.isEmpty),
    ]
    return others.filter(\.1).map(\.0) + reports
  }

  /// Whether nothing of a full-screen program is left.
  package var isLeft: Bool { leftOvers.isEmpty }
}
