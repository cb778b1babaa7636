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
/// Make it before the launch is complete, on the main actor, and keep it for as long as the program runs. A host that begins later takes
/// the steps that it has missed at the first notification that implies them.
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
/// On Linux, where a test posts the notifications, it takes the platform and a center:
///
///     let center = NotificationCenter()
///     let host = NotificationCenterHost(application, platform: .uiKit, center: center)
///     center.post(name: UIApplication.didFinishLaunchingNotification, object: nil)
///
/// **Threads.** When a post on the main thread returns, the delegate's methods and synchronous handlers have run, unless another transition
/// is under way. On Apple's systems that is so from version 26 on; before, they run soon after. A post on another thread is followed as
/// soon as the main actor is free.
///
/// **Background.** The platform may suspend a process that has left the foreground. The host keeps it awake until the tear-down is complete
/// and the background tasks that are open then have ended (``Configuration/keepAwake``).
///
/// **The end.** The host holds up the platform's last notification until the tear-down is complete (``Configuration/waitForEnd``). Inside
/// work of the main queue that cannot be, as nothing else runs on the main actor meanwhile: write
/// `RunLoop.main.perform { NSApp.terminate(nil) }`, and not `Task { NSApp.terminate(nil) }`. An application that ends by its own order
/// (`send(.terminate)`) has ``Configuration/endProcess`` called. The delegate's `applicationShouldTerminate` is asked by that order alone.
///
/// **What no notification tells.** Suspension: the state is *background* meanwhile. Why an application is inactive: its reason is
/// ``AppLifecycle/DeactivationReason/unspecified``, or `focusLost` with scenes. Whether a window was closed or its scene only disconnected:
/// the session stays. Whether data can be read in front of a locked screen: it counts as available. With several windows the application's
/// own notification follows the first window that comes back, and the last one that leaves. UIKit launches an application that has
/// scenes into the background, and `willEnterForeground` follows.
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
  private let platform: Platform
  private var machine: PlatformStateMachine
  private var ending: Subscription?
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
    self.platform = platform
    machine = PlatformStateMachine(platform, application.configuration.profile)
    // No observer of the application: while there is one, transitions cost more.
    ending = application.bus.subscribe(
      to: Application.StateDidChange.self, from: application, label: "NotificationCenterHost"
    ) { [weak self] event in
      if event.transition.to == .notRunning { self?.applicationEnded() }
    }
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
    ending?.cancel()
    ending = nil
  }

  /// By its own order, unless the platform has said so.
  private func applicationEnded() {
    if machine.hasEnded { return }
    machine.end()
    // After the transition: journals and other observers are still to be told of its end.
    application.tasks.startOnMainActor { [configuration, application] in
      configuration.endProcess(application.exitStatus)
    }
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
    if observers.isEmpty { return }
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
      application.begin(input, cause) { [application, platform] in
        // Nothing suspends an application of AppKit: its tasks have the time that they need.
        if input.leavesForeground, platform != .appKit { await application.endBackgroundTasks(cause) }
        progress.remaining -= 1
        if progress.remaining == 0 { allow?() }
      }
    }
    guard inputs.contains(.shutDown), progress.remaining > 0 else { return }
    let budgets = application.configuration.didEnterBackgroundBudget + application.configuration.willTerminateBudget
    configuration.waitForEnd(budgets + .seconds(1)) { progress.remaining == 0 }
    if progress.remaining == 0 { return }
    let message =
      "\(cause.rawValue) was posted inside work of the main queue: the process ends before it is torn down\n"
    FileHandle.standardError.write(Data(message.utf8))
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
    // Whatever handler posts the notification, no transition waits for itself.
    HandlerContext.outside {
      if tasks.startImmediately(work) == nil { tasks.startOnMainActor(work) }
    }
  }

  /// Lets background tasks end, while the application is in the background.
  fileprivate func endBackgroundTasks(_ cause: LifecycleCause) async {
    guard present.state == .background, !openBackgroundTasks.isEmpty else { return }
    // Expiration handlers run after half of the time that is given here.
    let expiration = configuration.backgroundTaskAllowance - configuration.backgroundExpirationLead
    _ = await finishBackgroundTasks(within: expiration * 2, cause: cause)
  }
}
