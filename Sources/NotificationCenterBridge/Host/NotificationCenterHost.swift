public import AppLifecycle
public import Foundation
internal import PubSub
internal import Scheduling

/// A host that drives an application by the notifications of UIKit, AppKit or WatchKit.
///
/// On Apple's systems the framework runs the life cycle. This host converts its notifications to inputs of an
/// ``AppLifecycle/Application``. So subscriptions, resources and tear-down work there as on other systems:
///
///     @main struct Shop: App {
///       @State private var host = NotificationCenterHost(Application(delegate: ShopDelegate()))
///       …
///     }
///
/// Make it on the main actor before the launch is complete, and keep it as long as the program runs. A host that is
/// made later sends the missed inputs at the first notification that implies them.
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
/// On Linux a test posts the notifications, and passes the platform and a center:
///
///     let center = NotificationCenter()
///     let host = NotificationCenterHost(application, platform: .uiKit, center: center)
///     center.post(name: UIApplication.didFinishLaunchingNotification, object: nil)
///
/// **Threads.** When a post on the main thread returns, the delegate's methods and synchronous handlers have run,
/// unless another transition is under way. On Apple's systems this requires version 26; in earlier versions they run
/// soon after the post. A post on another thread takes effect as soon as the main actor is free.
///
/// **Background.** The platform may suspend a process that has left the foreground. The host keeps the process awake
/// until the tear-down is complete and all open background tasks have ended (``Configuration/keepAwake``).
///
/// **The end.** The host returns from the platform's last notification only when the tear-down is complete
/// (``Configuration/waitForEnd``). That fails if the notification is posted inside work of the main queue, because
/// nothing else can run on the main actor then. So write `RunLoop.main.perform { NSApp.terminate(nil) }`, and not `Task
/// { NSApp.terminate(nil) }`. When an application ends by its own order (`send(.terminate)`), the host calls
/// ``Configuration/endProcess``. Only that order asks the delegate's `applicationShouldTerminate`.
///
/// **Facts that no notification contains.**
///
/// - Suspension: during it the state is *background*.
/// - The reason why an application is inactive: it is ``AppLifecycle/DeactivationReason/unspecified``, or `focusLost`
///   with scenes.
/// - Whether the user closed a window or the system disconnected its scene: the session stays in both cases.
/// - Whether data can be read while an application is in the foreground on a locked screen: the data counts as
///   available.
///
/// With several windows, the application's own notification follows the first window that returns to the foreground,
/// and the last one that leaves it. UIKit launches an application with scenes into the background, and
/// `willEnterForeground` follows.
@MainActor public final class NotificationCenterHost {
  /// The framework whose notifications a host follows.
  public enum Platform: Sendable, Hashable {
    /// The notifications of `UIApplication` and `UIScene`.
    case uiKit
    /// The notifications of `NSApplication` and `NSWorkspace`.
    case appKit
    /// The notifications of `WKApplication`.
    case watchKit

    /// The framework of the system on which the program runs; UIKit on systems without one.
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

  /// The application that the host drives.
  public let application: Application
  private let configuration: Configuration
  private let platform: Platform
  private var machine: PlatformStateMachine
  private var ending: EventBus.Subscription?
  private var identifiers: [ObjectIdentifier: SceneIdentifier] = [:]
  private var lastSceneNumber = 0
  private var observers: [(center: NotificationCenter, token: any NSObjectProtocol)] = []

  /// Makes a host that follows the notifications from now on.
  ///
  /// - Parameters:
  ///   - application: the application, which has not been launched.
  ///   - platform: the framework whose notifications the host follows.
  ///   - center: the center on which the platform posts them.
  ///   - configuration: the functions that control the process; nil for the platform's defaults.
  public init(
    _ application: Application, platform: Platform = .current, center: NotificationCenter = .default,
    configuration: Configuration? = nil
  ) {
    self.application = application
    let configuration = configuration ?? Configuration(platform)
    self.configuration = configuration
    self.platform = platform
    machine = PlatformStateMachine(platform, application.configuration.profile)
    // A subscription and not an observer of the application: an observer makes all transitions slower.
    ending = application.bus.subscribe(
      to: Application.StateDidChange.self, from: application, label: "NotificationCenterHost"
    ) { [weak self] event in
      if event.transition.to == .notRunning { self?.applicationEnded() }
    }
    observe(platform.events, in: center)
    observe(platform.workspaceEvents, in: configuration.workspaceCenter ?? center)
  }

  isolated deinit { stop() }

  /// Stops following notifications.
  ///
  /// A second call has no effect. The application does not change.
  public func stop() {
    for (center, token) in observers { center.removeObserver(token) }
    observers = []
    ending?.cancel()
    ending = nil
  }

  /// Ends the process after the application has ended by its own order; does nothing if the platform ended it.
  private func applicationEnded() {
    if machine.hasEnded { return }
    machine.end()
    // Do it after the transition: journals and other observers must still receive its end.
    application.tasks.startOnMainActor { [configuration, application] in
      configuration.endProcess(application.exitStatus)
    }
  }

  private func observe(_ events: [String: PlatformEvent], in center: NotificationCenter) {
    for (name, event) in events {
      let token = center.addObserver(forName: Optional(Notification.Name(name)), object: nil, queue: nil) {
        [weak self] notification in
        // Ignore notifications that a bridge has posted: they come from the application itself.
        guard notification.userInfo?[Route.key] == nil else { return }
        nonisolated(unsafe) let object = notification.object as AnyObject?
        let cause = LifecycleCause(rawValue: name)
        if MainQueue.isMainActors {
          MainActor.assumeIsolated { self?.take(event, of: object, cause) }
        } else {
          // Only changes of time are posted off the main thread.
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

  /// Returns the identifier of a scene: the platform's own if it has one; else `main`, or a numbered one if `main` is
  /// in use.
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
    let leaves = inputs.contains { $0.traits.contains(.leavesForeground) }
    let allow = leaves ? configuration.keepAwake(cause.rawValue) : nil
    // Each transition runs as far as possible before the next input is queued after it.
    for input in inputs {
      application.begin(input, cause) { [application, platform] in
        // The system does not suspend AppKit applications, so their background tasks need no deadline.
        if input.traits.contains(.leavesForeground), platform != .appKit { await application.endBackgroundTasks(cause) }
        progress.remaining -= 1
        if progress.remaining == 0 { allow?() }
      }
    }
    guard inputs.contains(.shutDown), progress.remaining > 0 else { return }
    let budgets = application.configuration.didEnterBackgroundBudget + application.configuration.willTerminateBudget
    let limit = budgets + .seconds(1)
    let probe = MainQueueProbe()
    configuration.waitForEnd(limit) { progress.remaining == 0 }
    if progress.remaining == 0 { return }
    let message = Self.lastMessage(cause, mainQueueHasRun: probe.hasRun, limit: limit)
    // Without `contentsOf`, an error of the call ends the process: standard error may be closed, or full.
    try? FileHandle.standardError.write(contentsOf: Data(message.utf8))
  }

  /// Returns the message about a tear-down that was not complete when the wait for it ended.
  package static func lastMessage(_ cause: LifecycleCause, mainQueueHasRun: Bool, limit: Duration) -> String {
    let reason =
      mainQueueHasRun
      ? "the tear-down after \(cause.rawValue) has not ended in time (\(limit))"
      : "\(cause.rawValue) was posted inside work of the main queue"
    return "\(reason): the process ends before its tear-down is complete\n"
  }

  @MainActor private final class Progress {
    var remaining: Int
    init(_ count: Int) { remaining = count }
  }
}

extension Application {
  /// Begins the transition of an input, and runs it up to its first suspension if no other transition is under way.
  fileprivate func begin(
    _ input: SystemInput, _ cause: LifecycleCause, whenDone: @escaping @MainActor @Sendable () async -> Void
  ) {
    // The task leaves the context of a handler that may have posted the notification; otherwise the transition could
    // wait for itself.
    let task = tasks.startImmediately { [self] in
      await handle(input, cause: cause)
      await whenDone()
    }
    if task != nil { return }
    // Tasks of a simulation may begin in any order, so the input is queued here.
    let answer = queue(input, cause: cause)
    tasks.startOnMainActor {
      _ = await answer.value
      await whenDone()
    }
  }

  /// Waits for open background tasks to end, if the application is in the background.
  fileprivate func endBackgroundTasks(_ cause: LifecycleCause) async {
    guard present.state == .background, !openBackgroundTasks.isEmpty else { return }
    // Expiration handlers run after half of the time that is passed here.
    let expiration = configuration.backgroundTaskAllowance - configuration.backgroundExpirationLead
    await finishBackgroundTasks(within: expiration * 2, cause: cause)
  }
}
