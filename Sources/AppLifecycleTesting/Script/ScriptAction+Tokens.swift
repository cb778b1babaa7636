import AppLifecycle

extension ScriptAction.Kind {
  /// Makes an action from a token.
  package init(token: String) throws(ScriptError.Problem) {
    // All valid tokens are ASCII, for which equal strings have equal bytes.
    guard token.utf8.allSatisfy({ $0 < 0x80 }) else { throw .unknownAction }
    if let input = Self.words[token] {
      self = .input(input)
      return
    }
    let parts = token.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    switch (parts[0], parts.count) {
    case ("interrupt", 2): self = .input(.system(.beginInterruption(try Self.reason(parts[1]))))
    case ("end", 2): self = .input(.system(.endInterruption(try Self.reason(parts[1]))))
    case ("host", 2) where parts[1] == "stop": self = .hostStop
    case ("host", 2) where parts[1] == "end": self = .hostEnd
    case ("wait", 2): self = .wait(try Self.duration(parts[1]))
    case ("task", 3) where parts[1] == "begin": self = .beginTask(try Self.name(parts[2]))
    case ("task", 3) where parts[1] == "end": self = .endTask(try Self.name(parts[2]))
    case ("mode", 3) where parts[1] == "begin": self = .beginMode(try Self.name(parts[2]))
    case ("mode", 3) where parts[1] == "end": self = .endMode(try Self.name(parts[2]))
    case ("do", 2): self = .own(try Self.name(parts[1]))
    case ("slow", 3):
      guard Self.calls.contains(parts[1]) else { throw .unknownCall }
      self = .slow(call: parts[1], duration: try Self.duration(parts[2]))
    case ("fail", 2):
      guard parts[1] == Self.save else { throw Self.problem(with: parts[0]) }
      self = .failSave
    case ("scene", 3):
      guard let input = Self.sceneSteps[parts[1]] else { throw Self.problem(with: parts[0]) }
      self = .input(.system(input(SceneIdentifier(rawValue: try Self.name(parts[2])))))
    default: throw Self.problem(with: parts[0])
    }
  }

  /// The actions that have no argument.
  private static let words: [String: LifecycleInput] = {
    let inputs: [SystemInput] = [
      .launch, .launchInBackground, .open, .home, .lock, .unlock, .setPasscode(true), .setPasscode(false),
      .memoryWarning, .significantTimeChange, .fetch, .suspend, .wake, .terminate, .shutDown,
    ]
    let all =
      inputs.map(LifecycleInput.system) + DeviceInput.allCases.filter { $0 != .purge }.map(LifecycleInput.device)
    return Dictionary(uniqueKeysWithValues: all.map { ($0.scriptToken, $0) })
  }()

  /// The actions on one window.
  private static let sceneSteps: [String: @Sendable (SceneIdentifier) -> SystemInput] = [
    "connect": { .connectScene($0) },
    "open": { .openScene($0) },
    "background": { .sendSceneToBackground($0) },
    "unfocus": { .unfocusScene($0) },
    "focus": { .focusScene($0) },
    "reclaim": { .reclaimScene($0) },
    "close": { .closeScene($0) },
  ]

  /// The forms of the actions with arguments, by their first word, for error messages.
  private static let forms: [String: String] = [
    "launch": "launch or launch:background",
    "passcode": "passcode:on or passcode:off",
    "switcher": "switcher, switcher:return, switcher:leave or switcher:kill",
    "interrupt": "interrupt:NAME",
    "end": "end:NAME",
    "host": "host:stop or host:end",
    "wait": "wait:DURATION",
    "task": "task:begin:NAME or task:end:NAME",
    "mode": "mode:begin:NAME or mode:end:NAME",
    "slow": "slow:CALL:DURATION",
    "fail": "fail:save",
    "do": "do:NAME",
    "scene": "scene:STEP:ID with connect, open, background, unfocus, focus, reclaim or close",
  ]

  private static func problem(with word: String) -> ScriptError.Problem {
    forms[word].map { .malformed(expected: $0) } ?? .unknownAction
  }

  /// The name of a save of the application's state, which is no call of a delegate.
  package static let save = "save"

  /// The calls that can be made slow: the application delegate's methods without their prefix, the scene delegate's
  /// methods, and saves.
  private static let calls: Set<String> = Set(ApplicationCallback.allCases.map(\.shortName))
    .union(SceneCallback.allCases.map(\.rawValue)).union([save])

  private static func reason(_ text: String) throws(ScriptError.Problem) -> DeactivationReason {
    DeactivationReason(rawValue: try name(text))
  }

  private static func name(_ text: String) throws(ScriptError.Problem) -> String {
    guard !text.isEmpty else { throw .missingName }
    guard text.utf8.allSatisfy(\.mayStandInName) else { throw .malformedName }
    return text
  }

  private static func duration(_ text: String) throws(ScriptError.Problem) -> Duration {
    let digits = text.prefix { "0"..."9" ~= $0 }
    guard !digits.isEmpty, digits.utf8.count <= 12, let count = Int64(digits) else { throw .malformedDuration }
    switch text[digits.endIndex...] {
    case "ms": return .milliseconds(count)
    case "s": return .seconds(count)
    case "m": return .seconds(count * 60)
    case "h": return .seconds(count * 3_600)
    case "d": return .seconds(count * 86_400)
    default: throw .malformedDuration
    }
  }
}

extension UInt8 {
  fileprivate var mayStandInName: Bool {
    switch self {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"): true
    default: false
    }
  }
}
