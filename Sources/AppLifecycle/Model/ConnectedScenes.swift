/// The scenes that are connected, in the order in which they connected, with their states.
struct ConnectedScenes: Sendable, Hashable {
  /// The scenes, first connected first.
  private(set) var identifiers: [SceneIdentifier] = []
  private var states: [SceneIdentifier: SceneState] = [:]
  /// The scenes whose windows have lost the keyboard focus.
  private var unfocused: Set<SceneIdentifier> = []

  /// The state of a scene; nil if it is not connected.
  subscript(id: SceneIdentifier) -> SceneState? { states[id] }

  /// The scenes in the foreground, first connected first.
  var inForeground: [SceneIdentifier] { identifiers.filter { states[$0]?.isForeground == true } }

  /// Whether any scene is in that state.
  func contains(_ state: SceneState) -> Bool { states.values.contains(state) }

  /// Whether any scene is in the foreground.
  var hasForeground: Bool { states.values.contains(where: \.isForeground) }

  /// Whether the scene's window has the keyboard focus, which it has until the host reports the loss.
  func hasFocus(_ id: SceneIdentifier) -> Bool { !unfocused.contains(id) }

  /// Whether there are scenes in the foreground, and each of their windows has lost the keyboard focus.
  var foregroundLacksFocus: Bool {
    guard !unfocused.isEmpty else { return false }
    let foreground = inForeground
    return !foreground.isEmpty && unfocused.isSuperset(of: foreground)
  }

  /// Adds a scene at the end; it is unattached until its state is set.
  mutating func connect(_ id: SceneIdentifier) {
    identifiers.append(id)
    states[id] = .unattached
  }

  mutating func set(_ state: SceneState, of id: SceneIdentifier) { states[id] = state }

  mutating func setFocus(_ hasFocus: Bool, of id: SceneIdentifier) {
    if hasFocus { unfocused.remove(id) } else { unfocused.insert(id) }
  }

  mutating func disconnect(_ id: SceneIdentifier) {
    if let index = identifiers.firstIndex(of: id) { identifiers.remove(at: index) }
    states[id] = nil
    unfocused.remove(id)
  }
}
