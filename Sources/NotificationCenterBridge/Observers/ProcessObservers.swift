#if !canImport(ObjectiveC)
  import AppLifecycle
  import Foundation
  internal import PubSub
  internal import Scheduling

  /// The observers that a simulated process has added to notification centers, and that end with the process.
  ///
  /// A notification center has no list of its observers, so they are noted when they are added.
  final class ProcessObservers: Sendable {
    private struct State: @unchecked Sendable {
      /// Accessed only under the lock.
      var observers: [(token: any NSObjectProtocol, center: NotificationCenter)] = []
      var subscription: EventBus.Subscription?
    }

    private struct WeakReference {
      weak var observers: ProcessObservers?
    }

    /// The observers of the applications' present processes, by the addresses of the applications.
    ///
    /// Only a handler of the application's bus retains them, so they end with the bus; and with the simulated system, as an
    /// observer may keep the application.
    private static let present = Guarded<[ObjectIdentifier: WeakReference]>([:])

    private let reference: ApplicationReference
    private let state = Guarded(State())

    private init(of application: Application) { reference = application.reference }

    deinit { removeAll() }

    /// Notes an observer if the present code belongs to a simulated process, as far as that is known.
    static func keep(_ token: any NSObjectProtocol, in center: NotificationCenter) {
      guard MainQueue.isCurrent else { return }
      nonisolated(unsafe) let token = token
      let isFirstDelegate = SimulatedReference.uponMaking { application in
        MainActor.assumeIsolated { keep(token, in: center, of: application) }
      }
      if isFirstDelegate { return }
      MainActor.assumeIsolated {
        guard let application = Application.current,
          application.present.state.isInMemory || application.isMakingDelegate
        else { return }
        keep(token, in: center, of: application)
      }
    }

    @MainActor private static func keep(
      _ token: any NSObjectProtocol, in center: NotificationCenter, of application: Application
    ) {
      guard application.makeDelegate != nil else { return }
      nonisolated(unsafe) let token = token
      observers(of: application).state.withLock { $0.observers.append((token, center)) }
    }

    @MainActor private static func observers(of application: Application) -> ProcessObservers {
      let key = ObjectIdentifier(application)
      // Another application may have had the address before.
      let noted = present.withLock { $0[key]?.observers }
      if let noted, noted.reference === application.reference { return noted }
      let observers = ProcessObservers(of: application)
      present.withLock { $0[key] = WeakReference(observers: observers) }
      let subscription = application.bus.subscribe(
        to: Application.StateDidChange.self, from: application, label: "NotificationCenterBridge"
      ) { event in
        if event.transition.to == .notRunning { observers.removeAll() }
      }
      observers.state.withLock { $0.subscription = subscription }
      application.simulatedReference?.uponLeaving { [weak observers] in observers?.removeAll() }
      return observers
    }

    private func removeAll() {
      let former = state.withLock { state in
        defer { state.observers = [] }
        return state.observers
      }
      for (token, center) in former { center.removeObserver(token) }
    }
  }
#endif
