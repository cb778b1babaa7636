public import AppLifecycle

extension [LifecycleRecord] {
  /// The delegate calls as `didBecomeActive (active)`: the method without the prefix `application`, and the
  /// application's state during the call.
  ///
  /// A scene's call keeps its name: `sceneDidBecomeActive (active)`.
  public var callbacks: [String] {
    compactMap { record in
      guard record.kind == .delegate else { return nil }
      let name = ApplicationCallback(rawValue: record.name)?.shortName ?? record.name
      return "\(name) (\(record.state.rawValue))"
    }
  }

  /// The raw names of the notifications that were posted.
  public var notifications: [String] { compactMap { $0.kind == .notification ? $0.name : nil } }

  /// The states that were committed.
  public var states: [ApplicationState] { compactMap { $0.kind == .state ? $0.state : nil } }

  /// The records of inputs that had no effect.
  public var ignored: [LifecycleRecord] { filter { $0.kind == .ignored } }
}
