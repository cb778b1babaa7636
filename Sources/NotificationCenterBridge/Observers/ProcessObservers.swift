#if !canImport(ObjectiveC)
  import AppLifecycle
  import Foundation
  internal import PubSub
  internal import Scheduling

  /// The observers that a simulated process has added to notification centers, and that end with the process.
  ///
  /// A notification center has no list of its observers, so they are noted when they are added. They end by losing their blocks,
  /// and stay in their centers: a center uses the number of an observer that was removed again, so a second removal, by the
  /// bridge or by the component, would remove another one's.
  final class ProcessObservers: Sendable {
    typealias Block = @Sendable (Notification) -> Void

    /// The block of an observer until its process has ended; only the center retains it.
    private final class Observer: Sendable {
      private let block: Guarded<Block?>

      init(_ block: @escaping Block) { self.block = Guarded(block) }

      func call(_ notification: Notification) { block.withLock { $0 }?(notification) }

      func end() {
        // The last use of the block may release objects that use the center: not under the lock.
        _ = block.withLock { block in
          defer { block = nil }
          return block
        }
      }
    }

    private struct State {
      /// Weak, as a component may remove an observer.
      var observers: [WeakObserver] = []
      /// The number above which those that were removed are forgotten, so that a long process keeps few of them.
      var limit = 16
      var subscription: EventBus.Subscription?
    }

    private struct WeakObserver {
      weak var observer: Observer?
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

    deinit { endAll() }

    /// Returns the block that an observer is to have: one that does nothing after the process, if the present code belongs to
    /// a simulated process, as far as that is known.
    static func limiting(_ block: @escaping Block) -> Block {
      guard MainQueue.isMainActors else { return block }
      let observer = Observer(block)
      let isFirstDelegate = SimulatedReference.uponMaking { application in
        MainActor.assumeIsolated { note(observer, of: application) }
      }
      let isNoted = isFirstDelegate || MainActor.assumeIsolated { noteOfPresentProcess(observer) }
      guard isNoted else { return block }
      return { observer.call($0) }
    }

    @MainActor private static func noteOfPresentProcess(_ observer: Observer) -> Bool {
      guard let application = Application.current,
        application.present.state.isInMemory || application.isMakingDelegate
      else { return false }
      note(observer, of: application)
      return true
    }

    @MainActor private static func note(_ observer: Observer, of application: Application) {
      guard application.makeDelegate != nil else { return }
      // What is looked at is released after the lock: another thread may be removing it.
      _ = observers(of: application).state.withLock { state in
        state.observers.append(WeakObserver(observer: observer))
        guard state.observers.count > state.limit else { return [] }
        let present = state.observers.compactMap(\.observer)
        (state.observers, state.limit) = (present.map(WeakObserver.init), max(16, 2 * present.count))
        return present
      }
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
        if event.transition.to == .notRunning { observers.endAll() }
      }
      observers.state.withLock { $0.subscription = subscription }
      application.simulatedReference?.uponLeaving { [weak observers] in observers?.endAll() }
      return observers
    }

    private func endAll() {
      let former = state.withLock { state in
        defer { state.observers = [] }
        return state.observers
      }
      for weak in former { weak.observer?.end() }
    }
  }
#endif
