import AppLifecycle
import PubSub

/// A delegate that reports each of its calls to a recorder.
@MainActor final class RecorderDelegate {
  private let recorder: EventRecorder
  /// The number of the process.
  private let process: Int32
  private var subscriptions: [EventBus.Subscription] = []
  private var view: RecorderView?

  /// Creates a delegate.
  ///
  /// - Parameters:
  ///   - recorder: keeps the calls.
  ///   - process: the number of the process.
  init(_ recorder: EventRecorder, process: Int32) { (self.recorder, self.process) = (recorder, process) }

  private func record(_ callback: ApplicationCallback, _ application: Application) {
    recorder.add(callback, .delegate, in: application, process: process)
  }
}

extension RecorderDelegate: ApplicationDelegate {
  func applicationWillFinishLaunching(_ application: Application) {
    view = RecorderView(bus: application.bus)
    subscriptions = recorder.observe(application, process: process)
    record(.willFinishLaunching, application)
  }

  func applicationDidFinishLaunching(_ application: Application) { record(.didFinishLaunching, application) }
  func applicationDidBecomeActive(_ application: Application) { record(.didBecomeActive, application) }
  func applicationWillResignActive(_ application: Application) { record(.willResignActive, application) }
  func applicationDidEnterBackground(_ application: Application) { record(.didEnterBackground, application) }
  func applicationWillEnterForeground(_ application: Application) { record(.willEnterForeground, application) }
  func applicationWillTerminate(_ application: Application) { record(.willTerminate, application) }

  func applicationShouldTerminate(_ application: Application, cause: LifecycleCause) async -> TerminateReply {
    record(.shouldTerminate, application)
    return .now
  }

  func applicationDidReceiveMemoryWarning(_ application: Application) {
    record(.didReceiveMemoryWarning, application)
  }

  func applicationSignificantTimeChange(_ application: Application) { record(.significantTimeChange, application) }

  func applicationProtectedDataWillBecomeUnavailable(_ application: Application) {
    record(.protectedDataWillBecomeUnavailable, application)
  }

  func applicationProtectedDataDidBecomeAvailable(_ application: Application) {
    record(.protectedDataDidBecomeAvailable, application)
  }
}
