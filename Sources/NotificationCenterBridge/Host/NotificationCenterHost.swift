public import AppLifecycle
public import Foundation
internal import PubSub

/// Drives an application by the notifications that UIKit, AppKit or WatchKit post.
///
/// On Apple's systems the framework knows the life cycle. This host turns what it posts into the inputs of an ``AppLifecycle/Application``,
/// so that components which subscribe, resources and tear-down work there as they do elsewhere:
///
///     @main struct Shop: App {
///       @State private var host = NotificationCenterHost(Application(delegate: ShopDelegate()))
///       …
///     }
///
/// Make it before the launch is complete, on the main actor, and keep it for as long as the program runs.
///
/// | notification | what follows |
/// | --- | --- |
/// | `UIApplication…`, `WKApplication…` | the step of the same name |
/// | `UIScene…` | where the application follows the life cycle with scenes, the step of that scene |
/// | `NSApplicationDidBecomeActive`, `…WillResignActive` | active, inactive |
/// | `NSApplicationDidHide`, displays or machine asleep, another user's session | background, until none of them holds |
/// | `UIApplicationProtectedDataWillBecomeUnavailable`, `…DidBecomeAvailable` | `lock`, `unlock` |
/// | `UIApplicationSignificantTimeChange`; elsewhere a new day, a set clock, another time zone | `significantTimeChange` |
/// | `…WillTerminate` | `shutDown` |
///
/// Delegate calls and synchronous handlers have run when the platform's post returns, on Apple's systems from version 26 on; before that,
/// they run soon after. The platform may suspend the process once it has left the foreground: until the tear-down is complete and
/// no background task is open, the host keeps it awake with ``Configuration/keepAwake``. When the process is about to end, the host
/// holds up the post until the tear-down is complete (``Configuration/waitForEnd``).
///
/// Some things no notification tells. Suspension is one: the state is *background* meanwhile. Why an application is inactive is another:
/// its reason is ``AppLifecycle/DeactivationReason/unspecified``, or `focusLost` with scenes. And nothing tells whether a window was
/// closed or its scene only disconnected, so the session stays. With several windows the application's own notification follows the first
/// window that comes back, and the last one that leaves.
@MainActor public final class NotificationCenterHost {
  /// Whose notifications a host follows.
  public enum Platform: Sendable, Hashable {
    /// Those of `UIApplication` and `UIScene`.
    case uiKit
    /// Those of `NSApplication` and `NSWorkspace`.
    case appKit
    /// Those of `WKApplication`.
    case watchKit

    /// That of the system on which the program runs; UIKit where there is none.
    public static var current: Platform {
      #if os(watchOS)
        .watchKit
      #elseif canImport(AppKit) && !targetEnvironment(macCatalyst)
        .appKit
      #else
        .uiKit
      #endif
    }
  }

  /// The application.
  public let application: Application
  private let configuration: Configuration
  private var machine: PlatformStateMachine
  private var identifiers: [ObjectIdentifier: SceneIdentifier] = [:]
  private var lastSceneNumber = 0
  private var observers: [(center: NotificationCenter, token: any NSObjectProtocol)] = []

  /// A host that follows the notifications from now on.
  ///
  /// - Parameters:
  ///   - application: the application, which has not been launched.
  ///   - platform: whose notifications to follow.
  ///   - center: where the platform posts them.
  ///   - configuration: how the host deals with its process; nil for what suits the platform.
  public init(
    _ application: Application, platform: Platform = .current, center: NotificationCenter = .default,
    configuration: Configuration? = nil
  ) {
    self.application = application
    let configuration = configuration ?? Configuration(platform)
    self.configuration = configuration
    machine = PlatformStateMachine(
      followsScenes: platform == .uiKit && application.configuration.profile == .scenes)
    observe(platform.events, in: center)
    observe(platform.workspaceEvents, in: configuration.workspaceCenter ?? center)
  }

  isolated deinit { stop() }

  /// Ends it: notifications are followed no longer.
  ///
  /// A second call has no effect. The application stays as it is.
  public func stop() {
    for (center, token) in observers { center.removeObserver(token) }
    observers = []
  }

  private func observe(_ events: [String: PlatformEvent], in center: NotificationCenter) {
    for (name, event) in events {
      let token = center.addObserver(forName: Notification.Name(name), object: nil, queue: nil) {
        [weak self] notification in
        // What a bridge has posted is an application's own.
        guard notification.userInfo?[Route.key] == nil else { return }
        nonisolated(unsafe) let object = notification.object as AnyObject?
        let cause = LifecycleCause(rawValue: name)
        if MainQueue.isCurrent {
          MainActor.assumeIsolated { self?.take(event, of: object, cause) }
        } else {
          // The platform posts on the main thread, but for changes of time.
          DispatchQueue.main.async { self?.take(event, of: object, cause) }
        }
      }
      observers.append((center, token))
    }
  }

  private func take(_ event: PlatformEvent, of object: AnyObject?, _ cause: LifecycleCause) {
    let scene = if case .scene = event, let object { identifier(of: object) } else { SceneIdentifier.main }
    if case .scene(.didDisconnect) = event, let object { identifiers[ObjectIdentifier(object)] = nil }
    let device = PlatformStateMachine.DeviceFacts(
      launchesInBackground: configuration.launchesInBackground(), dataIsProtected: configuration.dataIsProtected())
    let inputs = machine.inputs(for: event, of: scene, on: device)
    if !inputs.isEmpty { perform(inputs, cause) }
  }

  /// The name of a scene: the platform's own if it has one, else one with a number; the only one is `main`.
  private func identifier(of scene: AnyObject) -> SceneIdentifier {
    if let identifier = identifiers[ObjectIdentifier(scene)] { return identifier }
    let identifier = configuration.sceneIdentifier(scene) ?? newIdentifier()
    identifiers[ObjectIdentifier(scene)] = identifier
    return identifier
  }

  private func newIdentifier() -> SceneIdentifier {
    guard identifiers.values.contains(.main) else { return .main }
    lastSceneNumber += 1
    return SceneIdentifier(rawValue: "scene-\(lastSceneNumber)")
  }

  private func perform(_ inputs: [SystemInput], _ cause: LifecycleCause) {
    let progress = Progress(inputs.count)
    let leaves = inputs.contains(where: \.leavesForeground)
    let allow = leaves ? configuration.keepAwake(cause.rawValue) : nil
    // Each gets as far as it can before the next one begins, which is queued behind it.
    for input in inputs {
      application.begin(input, cause) { [application] in
        if input.leavesForeground { await application.endBackgroundTasks(cause) }
        progress.remaining -= 1
        if progress.remaining == 0 { allow?() }
      }
    }
    guard inputs.contains(.shutDown), progress.remaining > 0 else { return }
    configuration.waitForEnd { progress.remaining == 0 }
  }

  @MainActor private final class Progress {
    var remaining: Int
    init(_ count: Int) { remaining = count }
  }
}

extension SystemInput {
  /// Whether the process may be suspended after it.
  fileprivate var leavesForeground: Bool {
    switch self {
    case .home, .sendSceneToBackground, .lock, .launchInBackground: true
    default: false
    }
  }
}

extension Application {
  /// Runs the transition of an input as far as it gets without waiting, if no other is under way.
  fileprivate func begin(
    _ input: SystemInput, _ cause: LifecycleCause, whenDone: @escaping @MainActor @Sendable () async -> Void
  ) {
    let work: @MainActor @Sendable () async -> Void = { [self] in
      await handle(input, cause: cause)
      await whenDone()
    }
    if tasks.startImmediately(work) == nil { tasks.startOnMainActor(work) }
  }

  /// Lets background tasks end, while the application is in the background.
  fileprivate func endBackgroundTasks(_ cause: LifecycleCause) async {
    guard present.state == .background, !openBackgroundTasks.isEmpty else { return }
    // Expiration handlers run after half of the time that is given here.
    let expiration = configuration.backgroundTaskAllowance - configuration.backgroundExpirationLead
    _ = await finishBackgroundTasks(within: expiration * 2, cause: cause)
  }
}
