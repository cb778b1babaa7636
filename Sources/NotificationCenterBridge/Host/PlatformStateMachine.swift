public import AppLifecycle

/// A pure state machine that converts the notifications of a platform to inputs of an application.
///
/// A notification reports one step. An input leads as far as possible: `launch` leads to active, unless an interruption
/// prevents it. So the machine keeps an interruption open from the launch, and after each notification that the
/// application resigns, until the platform reports that the application is active. With scenes, each scene has the
/// focus while the platform reports it as active.
///
/// Notifications may be missing, for example if a host begins late, or may come twice. The machine sends a missing step
/// first, and does not repeat a step.
struct PlatformStateMachine: Sendable {
  private let platform: NotificationCenterHost.Platform
  /// Whether the machine follows each scene of the platform.
  private let followsScenes: Bool
  /// Whether the application has ended; later notifications, until the process ends, must not launch it again.
  private(set) var hasEnded = false
  private var isLaunched = false
  private var isInBackground = false
  private var isInterrupted = false
  private var dataIsProtected = false
  private var hiding: Set<PlatformEvent.Hiding> = []
  private var scenes: [SceneIdentifier: SceneFacts] = [:]

  private struct SceneFacts: Sendable {
    var isForeground = false
    var hasFocus = true
  }

  /// The state of the device and the process at a launch.
  struct DeviceFacts: Sendable {
    /// Whether a launch that has just completed leads to the background.
    var launchesInBackground = false
    /// Whether the device is locked, and the application's files cannot be read.
    var dataIsProtected = false
  }

  /// Makes the machine for a new process.
  ///
  /// - Parameters:
  ///   - platform: the framework whose notifications it converts.
  ///   - profile: the life cycle of the application.
  init(_ platform: NotificationCenterHost.Platform, _ profile: LifecycleProfile) {
    self.platform = platform
    followsScenes = platform == .uiKit && profile == .scenes
  }

  /// Notes that the application has ended, by its own order or by the platform's.
  mutating func end() { hasEnded = true }

  /// Takes a notification.
  ///
  /// - Parameters:
  ///   - event: the meaning of the notification.
  ///   - scene: the scene of the notification; the main scene if it has none.
  ///   - device: the present state of the device and the process.
  /// - Returns: the inputs, in the order in which the caller must send them.
  mutating func inputs(
    for event: PlatformEvent, of scene: SceneIdentifier = .main, on device: DeviceFacts
  ) -> [SystemInput] {
    if hasEnded { return [] }
    switch event {
    case .application(let callback): return take(callback, device)
    case .scene(let callback): return followsScenes ? take(callback, of: scene, device) : []
    case .outOfSight(let hiding):
      guard self.hiding.insert(hiding).inserted, isLaunched else { return [] }
      // Do not begin an interruption here: an application whose displays slept may never have resigned active, and then
      // no notification would end the interruption.
      return leave()
    case .inSight(let hiding):
      guard self.hiding.remove(hiding) != nil, self.hiding.isEmpty, isLaunched else { return [] }
      return comeBack()
    }
  }

  // MARK: The application

  private mutating func take(_ callback: ApplicationCallback, _ device: DeviceFacts) -> [SystemInput] {
    switch callback {
    case .didFinishLaunching: return launch(on: device)
    case .willTerminate:
      end()
      return isLaunched ? [.shutDown] : []
    case .didReceiveMemoryWarning: return isLaunched ? [.memoryWarning] : []
    case .significantTimeChange: return isLaunched ? [.significantTimeChange] : []
    case .protectedDataWillBecomeUnavailable:
      guard isLaunched, !dataIsProtected else { return [] }
      // First send the application to the background. An unlock does not bring an application back that was locked in
      // the background; the platform reports when it returns.
      let leaving = followsScenes ? leaveScenes() : leave()
      dataIsProtected = true
      return leaving + [.setPasscode(true), .lock]
    case .protectedDataDidBecomeAvailable: return makeDataAvailable()
    case .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground:
      // With scenes, the application's own steps follow from those of its scenes.
      return followsScenes ? [] : step(callback, device)
    case .willFinishLaunching, .shouldTerminate: return []
    }
  }

  private mutating func step(_ callback: ApplicationCallback, _ device: DeviceFacts) -> [SystemInput] {
    var device = device
    if callback == .didEnterBackground { device.launchesInBackground = true }
    var inputs = launch(on: device)
    switch callback {
    case .didBecomeActive:
      if hiding.isEmpty { inputs += comeBack() }
      isInterrupted = false
      inputs.append(.endInterruption(.unspecified))
    case .willResignActive: inputs += interrupt()
    // The interruption comes after leaving; before it, it would make two transitions of one.
    case .didEnterBackground: inputs += leave() + interrupt()
    default: inputs += comeBack()
    }
    return inputs
  }

  /// Launches the application, if it is not launched.
  private mutating func launch(on device: DeviceFacts) -> [SystemInput] {
    guard !isLaunched else { return [] }
    isLaunched = true
    if device.launchesInBackground, platform == .appKit { hiding.insert(.hidden) }
    isInBackground = device.launchesInBackground || !hiding.isEmpty || followsScenes
    dataIsProtected = device.dataIsProtected && isInBackground
    return (dataIsProtected ? [.setPasscode(true), .lock] : []) + (followsScenes ? [] : interrupt())
      + [isInBackground ? .launchInBackground : .launch]
  }

  private mutating func interrupt() -> [SystemInput] {
    guard !isInterrupted else { return [] }
    isInterrupted = true
    return [.beginInterruption(.unspecified)]
  }

  private mutating func leave() -> [SystemInput] {
    guard !isInBackground else { return [] }
    isInBackground = true
    return [.home]
  }

  private mutating func comeBack() -> [SystemInput] {
    guard isInBackground else { return [] }
    isInBackground = false
    return makeDataAvailable() + [.open]
  }

  /// Unlocks, even if the screen is still locked: an application that the platform reports in the foreground cannot be
  /// in the background.
  private mutating func makeDataAvailable() -> [SystemInput] {
    guard dataIsProtected else { return [] }
    dataIsProtected = false
    return [.unlock]
  }

  // MARK: Scenes

  private mutating func take(
    _ callback: SceneCallback, of id: SceneIdentifier, _ device: DeviceFacts
  ) -> [SystemInput] {
    if callback == .didDisconnect {
      guard let facts = scenes.removeValue(forKey: id) else { return [] }
      // No notification says whether the user has closed the window, so its session stays.
      return (facts.isForeground ? [.sendSceneToBackground(id)] : []) + [.reclaimScene(id)]
    }
    let isNew = scenes[id] == nil
    var inputs = connect(id, device)
    switch callback {
    case .willConnect, .didDisconnect: break
    case .willEnterForeground: inputs += bringToFront(id)
    case .didBecomeActive: inputs += bringToFront(id) + setFocus(true, of: id)
    case .willResignActive:
      // A window resigns in the foreground. The machine has left it there, unless a lock has sent it to the background.
      if isNew { inputs += bringToFront(id) }
      inputs += setFocus(false, of: id)
    case .didEnterBackground:
      if scenes[id]?.isForeground == true { inputs.append(.sendSceneToBackground(id)) }
      scenes[id]?.isForeground = false
      inputs += setFocus(false, of: id)
    }
    return inputs
  }

  /// Connects the scene, if it is not connected; the scene has no focus until the platform reports it.
  private mutating func connect(_ id: SceneIdentifier, _ device: DeviceFacts) -> [SystemInput] {
    guard scenes[id] == nil else { return [] }
    scenes[id] = SceneFacts()
    return launch(on: device) + [.connectScene(id)] + setFocus(false, of: id)
  }

  private mutating func leaveScenes() -> [SystemInput] {
    var inputs: [SystemInput] = []
    for id in scenes.keys.sorted(by: { $0.rawValue < $1.rawValue }) where scenes[id]?.isForeground == true {
      scenes[id]?.isForeground = false
      inputs.append(.sendSceneToBackground(id))
    }
    return inputs
  }

  private mutating func bringToFront(_ id: SceneIdentifier) -> [SystemInput] {
    guard scenes[id]?.isForeground == false else { return [] }
    scenes[id]?.isForeground = true
    return makeDataAvailable() + [.openScene(id)]
  }

  private mutating func setFocus(_ hasFocus: Bool, of id: SceneIdentifier) -> [SystemInput] {
    guard scenes[id]?.hasFocus != hasFocus else { return [] }
    scenes[id]?.hasFocus = hasFocus
    return [hasFocus ? .focusScene(id) : .unfocusScene(id)]
  }
}

extension DeactivationReason {
  /// The reason of an interruption for which the system gives no reason.
  ///
  /// ``NotificationCenterHost`` uses it.
  public static let unspecified: DeactivationReason = "unspecified"
}
