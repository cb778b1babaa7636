import AppLifecycle
import Scheduling

/// Chance that can be repeated.
@MainActor final class Chance {
  private var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
  /// True once in so many times.
  func once(in count: Int) -> Bool { number(0..<count) == 0 }
  func pick<Element>(_ elements: [Element]) -> Element { elements[number(0..<elements.count)] }
}

/// Tokens of the script language at random: all of them, in any order, those more often that get an application somewhere.
@MainActor struct RandomScript {
  private static let interruptions = ["call", "alert", "faceID"]
  private static let windows = ["main", "left", "right"]
  private static let frequent = ["launch", "home", "open", "open", "unlock", "switcher:return"]
  private static let words =
    frequent + [
      "launch:background", "lock", "passcode:on", "passcode:off", "switcher", "switcher:leave", "memory", "reclaim",
      "time", "fetch", "suspend", "wake", "host:stop",
    ]
  private static let ends = ["switcher:kill", "kill", "quit", "quit", "crash", "reboot", "host:end"]

  /// As they brought an application back to the front, whatever has happened.
  static let recovery =
    ["switcher:return", "unlock"] + windows.map { "scene:focus:\($0)" } + interruptions.map { "end:\($0)" } + [
      "open", "wait:5m",
    ]

  let chance: Chance
  let profile: LifecycleProfile

  /// The next token.
  func token() -> String {
    switch chance.number(0..<40) {
    case 0..<16: chance.pick(Self.words)
    case 16..<18: chance.pick(Self.ends)
    case 18..<21: "interrupt:\(chance.pick(Self.interruptions))"
    case 21..<24: "end:\(chance.pick(Self.interruptions))"
    case 24..<30: "wait:\(chance.pick(["0s", "1ms", "700ms", "3s", "5s", "26s", "2m"]))"
    case 30: "task:begin:\(chance.pick(["save", "send"]))"
    case 31: "task:end:\(chance.pick(["save", "send"]))"
    case 32: "mode:begin:\(chance.pick(["audio", "job"]))"
    case 33: "mode:end:\(chance.pick(["audio", "job"]))"
    case 34: "slow:\(call()):\(chance.pick(["10ms", "400ms", "2s", "6s"]))"
    // In the other profile there are no windows: few of these are enough.
    default: profile == .scenes || chance.once(in: 4) ? window() : chance.pick(Self.frequent)
    }
  }

  private func call() -> String {
    chance.once(in: 2)
      ? chance.pick(ApplicationCallback.allCases).shortName : chance.pick(SceneCallback.allCases).rawValue
  }

  private func window() -> String {
    let step = chance.pick([
      "connect", "open", "open", "open", "background", "unfocus", "unfocus", "focus", "focus", "reclaim", "close",
    ])
    return "scene:\(step):\(chance.pick(Self.windows))"
  }

  /// An input at random, for tests that hand one in by themselves.
  func input() -> LifecycleInput {
    let window = SceneIdentifier(rawValue: chance.pick(Self.windows))
    func system(_ inputs: SystemInput...) -> [LifecycleInput] { inputs.map(LifecycleInput.system) }
    // The order decides which input a seed picks.
    return chance.pick(
      system(
        .open, .open, .home, .lock, .unlock, .beginInterruption("call"), .endInterruption("call"), .memoryWarning,
        .significantTimeChange) + [.device(.openSwitcher), .device(.returnFromSwitcher)]
        + system(.suspend, .fetch, .terminate, .shutDown) + [.device(.crash)]
        + system(
          .launch, .openScene(window), .closeScene(window), .sendSceneToBackground(window), .unfocusScene(window),
          .focusScene(window)))
  }
}
