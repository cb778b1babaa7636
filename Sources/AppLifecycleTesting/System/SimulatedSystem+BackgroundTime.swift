internal import AppLifecycle

// What a script has the application do: background tasks and modes, and calls that take their time.

extension SimulatedSystem {
  /// The background tasks and modes that scripts have begun in the present process.
  struct ScriptedWork {
    /// By name, in order of begin, those that scripts have not ended.
    var tasks: [String: [BackgroundTask]] = [:]
    /// By name, the one that a script ended last.
    var endedTasks: [String: BackgroundTask] = [:]
    /// By name, those that stand.
    var modes: [String: [BackgroundModeAssertion]] = [:]

    /// The process has ended.
    mutating func loseProcess() { (tasks, endedTasks, modes) = ([:], [:], [:]) }
  }

  /// Plays one such action; says why it had no effect, if so.
  func performWork(_ action: ScriptAction.Kind) -> String? {
    switch action {
    case .slow(let call, let duration):
      clock.setLength(of: delegateMethod(of: call), to: duration)
      return nil
    case _ where !application.state.isInMemory: return IgnoredReason.notRunning.rawValue
    case _ where !application.state.runsCode: return IgnoredReason.suspended.rawValue
    case .beginTask(let name): work.tasks[name, default: []].append(application.beginBackgroundTask(named: name))
    case .endTask(let name): return endTask(named: name)
    case .beginMode(let name):
      let mode = BackgroundMode(rawValue: name)
      work.modes[name, default: []].append(application.beginBackgroundMode(mode))
    case .endMode(let name):
      guard let mode = work.modes[name]?.popLast() else { return "no such background mode stands" }
      mode.end()
    case .input, .wait: break
    }
    return nil
  }

  /// Of several tasks with one name the first is ended first; when all have been, the last of them is ended twice.
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
  /// With scenes `didEnterBackground` and the like are the scene's.
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
