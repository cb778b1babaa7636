public import AppLifecycle

/// Decides, as a pure state machine, which inputs the notifications of a platform are.
///
/// A notification tells of one step. An input leads as far as nothing is in its way: `launch` up to active. So a reason to be
/// inactive stands from the launch to the platform's word that the application is active, and from its word that it resigns; with
/// scenes, each has the focus for as long as the platform calls it active.
///
/// Notifications may be missing, as for a host that begins late, or come twice: a step that was skipped is sent first, one that was
/// taken is not sent again.
struct PlatformStateMachine: Sendable {
  private let platform: NotificationCenterHost.Platform
  /// Whether the platform's scenes are followed one by one.
  private let followsScenes: Bool
  /// Whether the application has ended: what is posted until the process ends, too, must not launch it again.
  private(set) var hasEnded = false
  private var isLaunched = false
  private var isInBackground = false
  private var isInterrupted = false
  private var dataIsProtected = false
  private var hiding: Set<PlatformEvent.Hiding> = []
  private var scenes: [SceneIdentifier: SceneFacts] = [:]

  private struct SceneFacts: Sendable {
    var isInFront = false
    var hasFocus = true
  }

  /// What a launch finds.
  struct DeviceFacts: Sendable {
    /// Whether a launch that is just complete leads into the background.
    var launchesInBackground = false
    /// Whether the device is locked, and the application's files cannot be read.
    var dataIsProtected = false
  }

  /// The beginning of a process.
  ///
  /// - Parameters:
  ///   - platform: whose notifications they are.
  ///   - profile: the life cycle of the application.
  init(_ platform: NotificationCenterHost.Platform, _ profile: LifecycleProfile) {
    self.platform = platform
    followsScenes = platform == .uiKit && profile == .scenes
  }

  /// The application has ended, for a reason of its own or by the platform's word.
  mutating func end() { hasEnded = true }

  /// Takes a notification.
  ///
  /// - Parameters:
  ///   - event: what it says.
  ///   - scene: the scene of which it says that; the main one if it is about none.
  ///   - device: what the platform says of the device and the process at this moment.
  /// - Returns: the inputs, in the order in which they are to be sent.
  mutating func inputs(
    for event: PlatformEvent, of scene: SceneIdentifier = .main, on device: DeviceFacts
  ) -> [SystemInput] {
    if hasEnded { return [] }
    switch event {
    case .application(let callback): return take(callback, device)
    case .scene(let callback): return followsScenes ? take(callback, of: scene, device) : []
    case .outOfSight(let hiding):
      guard self.hiding.insert(hiding).inserted, isLaunched else { return [] }
      // No reason to be inactive: an application whose displays slept may never have resigned, and then does not become active.
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
      // Where a lock finds the application in the background, its end does not bring it back: the platform says when.
      let leaving = followsScenes ? leaveScenes() : leave()
      dataIsProtected = true
      return leaving + [.setPasscode(true), .lock]
    case .protectedDataDidBecomeAvailable: return makeDataAvailable()
    case .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground:
      // With scenes the application's own steps follow from theirs.
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
    // The reason follows: it must not make two transitions of one.
    case .didEnterBackground: inputs += leave() + interrupt()
    default: inputs += comeBack()
    }
    return inputs
  }

  /// The application is launched, if it was not.
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

  /// In front of a locked screen, too: an application that is there cannot be told to be in the background.
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
      // Whether the user has closed the window no notification says: its session stays.
      return (facts.isInFront ? [.sendSceneToBackground(id)] : []) + [.reclaimScene(id)]
    }
    var inputs = connect(id, device)
    switch callback {
    case .willConnect, .didDisconnect: break
    case .willEnterForeground: inputs += bringToFront(id)
    case .didBecomeActive: inputs += bringToFront(id) + setFocus(true, of: id)
    case .willResignActive: inputs += setFocus(false, of: id)
    case .didEnterBackground:
      if scenes[id]?.isInFront == true { inputs.append(.sendSceneToBackground(id)) }
      scenes[id]?.isInFront = false
      inputs += setFocus(false, of: id)
    }
    return inputs
  }

  /// The scene is connected, if it was not; it has no focus until the platform says so.
  private mutating func connect(_ id: SceneIdentifier, _ device: DeviceFacts) -> [SystemInput] {
    guard scenes[id] == nil else { return [] }
    scenes[id] = SceneFacts()
    return launch(on: device) + makeDataAvailable() + [.connectScene(id)] + setFocus(false, of: id)
  }

  private mutating func leaveScenes() -> [SystemInput] {
    var inputs: [SystemInput] = []
    for id in scenes.keys.sorted(by: { $0.rawValue < $1.rawValue }) where scenes[id]?.isInFront == true {
      scenes[id]?.isInFront = false
      inputs.append(.sendSceneToBackground(id))
    }
    return inputs
  }

  private mutating func bringToFront(_ id: SceneIdentifier) -> [SystemInput] {
    guard scenes[id]?.isInFront == false else { return [] }
    scenes[id]?.isInFront = true
    return makeDataAvailable() + [.openScene(id)]
  }

  private mutating func setFocus(_ hasFocus: Bool, of id: SceneIdentifier) -> [SystemInput] {
    guard scenes[id]?.hasFocus != hasFocus else { return [] }
    scenes[id]?.hasFocus = hasFocus
    return [hasFocus ? .focusScene(id) : .unfocusScene(id)]
  }
}

extension DeactivationReason {
  /// The system keeps the application from being active, and does not say why.
  ///
  /// The reason that ``NotificationCenterHost`` gives.
  public static let unspecified: DeactivationReason = "unspecified"
}
