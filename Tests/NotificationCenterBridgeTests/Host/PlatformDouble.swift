import AppLifecycle
import AppLifecycleTesting
import Foundation
import NotificationCenterBridge

/// A double of an Apple system: it posts what the system posts, to a center of its own.
@MainActor final class PlatformDouble {
  let center = NotificationCenter()
  let application: Application
  private(set) var host: NotificationCenterHost?
  private(set) var record: [LifecycleRecord] = []
  private var token: ObserverToken?
  private var scenes: [String: SceneObject] = [:]
  private var facts: Facts

  /// What the system answers when it is asked.
  struct Facts {
    var launchesInBackground = false
    var dataIsProtected = false
  }

  /// The object of a scene's notifications.
  private final class SceneObject {
    let name: String
    init(_ name: String) { self.name = name }
  }

  final class Delegate: ApplicationDelegate {}

  init(
    _ platform: NotificationCenterHost.Platform = .uiKit, profile: LifecycleProfile = .application,
    facts: Facts = Facts(),
    namesScenes: Bool = true, configure: (inout NotificationCenterHost.Configuration) -> Void = { _ in }
  ) {
    self.facts = facts
    var configuration = Application.Configuration()
    configuration.profile = profile
    application = Application(delegate: Delegate(), configuration: configuration)
    var ours = NotificationCenterHost.Configuration(platform)
    ours.launchesInBackground = { [unowned self] in self.facts.launchesInBackground }
    ours.dataIsProtected = { [unowned self] in self.facts.dataIsProtected }
    if namesScenes {
      ours.sceneIdentifier = { ($0 as? SceneObject).map { SceneIdentifier(rawValue: $0.name) } }
    }
    configure(&ours)
    host = NotificationCenterHost(application, platform: platform, center: center, configuration: ours)
    token = application.observe { [weak self] event in
      if let new = event.record { self?.record.append(new) }
    }
  }

  /// Posts a notification, of a scene if one is named.
  func post(_ name: String, of scene: String? = nil, userInfo: [AnyHashable: Any]? = nil) {
    let object = scene.map { name -> SceneObject in
      let object = scenes[name] ?? SceneObject(name)
      scenes[name] = object
      return object
    }
    center.post(name: Notification.Name(name), object: object, userInfo: userInfo)
    if name == "UISceneDidDisconnectNotification", let scene { scenes[scene] = nil }
  }

  /// Posts notifications of which only the middle of the name is given.
  func post(stepsOf prefix: String, _ steps: String...) {
    for step in steps { post("\(prefix)\(step)Notification") }
  }

  /// Lets go of the host.
  func dropHost() { host = nil }

  /// The states, calls and notifications, without what notifications cannot tell.
  var steps: [Step] { record.steps }
}

/// A state, a delegate call or a notification, and in which state and for which scene it came.
struct Step: Equatable, CustomStringConvertible {
  let name: String
  let state: ApplicationState
  let scene: String?

  var description: String { "\(name) (\(state.rawValue)\(scene.map { ", \($0)" } ?? ""))" }
}

extension Sequence<LifecycleRecord> {
  /// Records without what no notification tells: suspension, and the question whether the application may end.
  var steps: [Step] {
    var steps: [Step] = []
    var isSuspended = false
    for record in self {
      switch record.kind {
      case .state where record.name == ApplicationState.suspended.rawValue: isSuspended = true
      case .state where isSuspended && record.name == ApplicationState.background.rawValue: isSuspended = false
      case .delegate where record.name == ApplicationCallback.shouldTerminate.rawValue: break
      case .state, .delegate, .notification:
        steps.append(Step(name: record.name, state: record.state, scene: record.scene))
      case .input, .ignored, .task, .report: break
      }
    }
    return steps
  }
}
