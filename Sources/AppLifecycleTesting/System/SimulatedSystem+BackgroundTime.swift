internal import AppLifecycle

// The actions of a script that the application performs: background tasks and modes, and slow calls.

extension SimulatedSystem {
  /// The background tasks and modes that scripts have begun in the present process.
  struct ScriptedWork {
    /// The tasks that scripts have not ended, by name, in the order in which they began.
    var tasks: [String: [Application.BackgroundTask]] = [:]
    /// The task that a script ended last, by name.
    var endedTasks: [String: Application.BackgroundTask] = [:]
    /// The background modes that have not ended, by name.
    var modes: [String: [BackgroundModeAssertion]] = [:]

    /// Forgets all work when the process has ended.
    mutating func loseProcess() { (tasks, endedTasks, modes) = ([:], [:], [:]) }
  }

  /// Plays one of these actions; returns the reason if it had no effect, else nil.
  func performWork(_ action: ScriptAction.Kind) -> String? {
    switch action {
    case .slow(let call, let duration):
      clock.setLength(of: delegateMethod(of: call), to: duration)
      return nil
    case .failSave:
      stateStorage.failNextSave()
      return nil
    case .own(let name): return performOwn(name)
    case _ where !application.state.isInMemory: return IgnoredReason.notRunning.rawValue
    case _ where !application.state.runsCode: return IgnoredReason.suspended.rawValue
    case .beginTask(let name): work.tasks[name, default: []].append(application.beginBackgroundTask(named: name))
    case .endTask(let name): return endTask(named: name)
    case .beginMode(let name): work.modes[name, default: []].append(application.beginBackgroundMode())
    case .endMode(let name):
      guard let mode = work.modes[name]?.popLast() else { return "no such background mode stands" }
      mode.end()
    case .input, .wait, .hostStop, .hostEnd: break
    }
    return nil
  }

  /// Ends the first open task of a name; if none is open, ends the last ended one a second time.
  ///
  /// Returns a reason if there was none.
  private func endTask(named name: String) -> String? {
    if let first = work.tasks[name]?.first {
      work.tasks[name]?.removeFirst()
      work.endedTasks[name] = first
    }
    guard let task = work.endedTasks[name] else { return "no such background task was begun" }
    task.end()
    return nil
  }
}

// MARK: - Slow calls

extension SimulatedSystem {
  /// Returns the delegate method of a call; with scenes, calls such as `didEnterBackground` mean the scene's method.
  private func delegateMethod(of call: String) -> String {
    if application.configuration.profile == .scenes,
      let method = SceneCallback.allCases.first(where: {
        $0.rawValue == "scene\(call.prefix(1).uppercased())\(call.dropFirst())"
      })
    {
      return method.rawValue
    }
    return ApplicationCallback.allCases.first { $0.shortName == call }?.rawValue ?? call
  }
}
