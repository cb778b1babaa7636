internal import AppLifecycle

extension LifecycleRecordRules {
  /// Checks a call of a delegate method.
  mutating func call(_ record: LifecycleRecord) {
    expect(state.runsCode, "the delegate is called while the application is \(state.rawValue)", record)
    expect(!told.isTerminating, "the delegate is called after willTerminate", record)
    if let callback = ApplicationCallback(rawValue: record.name) {
      expect(record.scene == nil, "a call of the application's delegate must not name a scene", record)
      expect(
        profile == .application || !callback.isTakenOverByScenes,
        "with scenes, the scenes' delegates receive this call, and not the application's delegate", record)
      if let name = callback.notificationName { owed = (name, nil) }
      if profile == .application || !callback.isTakenOverByScenes { take(callback, record) }
    } else if let callback = SceneCallback(rawValue: record.name) {
      expect(profile == .scenes, "an application without scenes has no scene delegate", record)
      owed = (callback.notificationName, record.scene)
      takeScene(callback, record)
    } else {
      expect(false, "no delegate method has this name", record)
    }
  }

  /// Checks a post of a notification; with scenes, some notifications of the application come without a delegate call.
  mutating func post(_ record: LifecycleRecord, isOwed: Bool) {
    expect(state.runsCode, "a notification is posted while the application is \(state.rawValue)", record)
    guard !isOwed else { return }
    guard profile == .scenes, record.scene == nil,
      let callback = ApplicationCallback.allCases.first(where: { $0.notificationName == record.name }),
      callback.isTakenOverByScenes
    else { return expect(false, "the notification does not follow its delegate call", record) }
    take(callback, record)
    switch callback {
    case .didBecomeActive: expect(told.scenes.contains(where: \.isActive), "no scene is active", record)
    case .willResignActive: expect(!told.scenes.contains(where: \.isActive), "a scene is still active", record)
    case .willEnterForeground:
      expect(told.scenes.contains(where: \.isForeground), "no scene is in the foreground", record)
    case .didEnterBackground:
      expect(!told.scenes.contains(where: \.isForeground), "a scene is still in the foreground", record)
    default: break
    }
  }

  private mutating func take(_ callback: ApplicationCallback, _ record: LifecycleRecord) {
    if callback != .willFinishLaunching, callback != .didFinishLaunching {
      expect(told.hasLaunched, "the call comes before the launch is complete", record)
    }
    switch callback {
    case .willFinishLaunching:
      expect(!told.hasBegunLaunch, "willFinishLaunching is called twice in one process", record)
      let isSeen = state == .background || state == .inactive && profile == .application
      expect(isSeen, "a launch must not see the state \(state.rawValue)", record)
      told.hasBegunLaunch = true
    case .didFinishLaunching:
      expect(
        told.hasBegunLaunch && !told.hasLaunched,
        "didFinishLaunching must follow willFinishLaunching, once in a process", record)
      told.hasLaunched = true
      // A cold launch without scenes does not call willEnterForeground.
      told.isForeground = state == .inactive
      told.isNewInBackground = state == .background
    case .didBecomeActive:
      expect(state == .active, "the call must see the state active", record)
      expect(told.isForeground, "the application becomes active, but it is in the background", record)
      expect(!told.isActive, "the application becomes active, but it is active already", record)
      told.isActive = true
    case .willResignActive:
      expect(state == .active, "the call must see the state active", record)
      expect(told.isActive, "the application resigns active, but it is not active", record)
      told.isActive = false
    case .didEnterBackground:
      expect(state == .background, "the call must see the state background", record)
      // A configuration can ask for this call at a background launch, too.
      expect(
        told.isForeground || told.isNewInBackground,
        "the application enters the background, but it is there already", record)
      expect(!told.isActive, "the application enters the background, but it has not resigned active", record)
      (told.isForeground, told.isNewInBackground) = (false, false)
    case .willEnterForeground:
      expect(state == .background, "the call must see the state background", record)
      expect(!told.isForeground, "the application enters the foreground, but it is there already", record)
      (told.isForeground, told.isNewInBackground) = (true, false)
    case .shouldTerminate:
      for message in unrest { expect(false, message, record) }
      told.wasAsked = true
    case .willTerminate:
      expect(state == .background, "the call must see the state background", record)
      expect(
        !told.isForeground && !told.isActive, "the application is terminated, but it has not entered the background",
        record)
      // A program may give its own end the cause `quit`, too.
      let asks = record.cause == LifecycleCause(.terminate) && lastInput?.name == record.cause.rawValue
      expect(told.wasAsked || !asks, "the application is terminated, but its delegate was not asked", record)
      told.isTerminating = true
    case .protectedDataWillBecomeUnavailable, .protectedDataDidBecomeAvailable:
      expect(state == .background, "protected data changes only while the application is in the background", record)
    case .didReceiveMemoryWarning, .significantTimeChange: break
    }
  }
}

// MARK: - Scenes

extension LifecycleRecordRules {
  private mutating func takeScene(_ method: SceneCallback, _ record: LifecycleRecord) {
    guard let id = record.scene else { return expect(false, "a call of a scene's delegate must name a scene", record) }
    if method == .willConnect {
      expect(!told.scenes.contains { $0.id == id }, "the scene is connected already", record)
      return told.scenes.append(SceneTold(id: id))
    }
    guard let index = told.scenes.firstIndex(where: { $0.id == id }) else {
      return expect(false, "the scene is not connected", record)
    }
    let scene = told.scenes[index]
    switch method {
    case .willConnect: break
    case .willEnterForeground:
      expect(!scene.isForeground, "the scene enters the foreground, but it is there already", record)
      told.scenes[index].isForeground = true
    case .didBecomeActive:
      expect(scene.isForeground, "the scene becomes active, but it is in the background", record)
      expect(!scene.isActive, "the scene becomes active, but it is active already", record)
      told.scenes[index].isActive = true
    case .willResignActive:
      expect(scene.isActive, "the scene resigns active, but it is not active", record)
      told.scenes[index].isActive = false
    case .didEnterBackground:
      expect(scene.isForeground, "the scene enters the background, but it is there already", record)
      expect(!scene.isActive, "the scene enters the background, but it has not resigned active", record)
      told.scenes[index].isForeground = false
    case .didDisconnect:
      expect(!scene.isForeground, "the scene is disconnected, but it has not entered the background", record)
      told.scenes.remove(at: index)
    }
  }
}

extension ApplicationCallback {
  /// Whether, with scenes, the scene's delegate is called instead of the application's.
  fileprivate var isTakenOverByScenes: Bool {
    switch self {
    case .didBecomeActive, .willResignActive, .didEnterBackground, .willEnterForeground: true
    case .willFinishLaunching, .didFinishLaunching, .shouldTerminate, .willTerminate, .didReceiveMemoryWarning,
      .significantTimeChange, .protectedDataWillBecomeUnavailable, .protectedDataDidBecomeAvailable:
      false
    }
  }
}
