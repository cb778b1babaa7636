internal import Scheduling

/// A simulated system's application as the shared one: weak, and empty until the application has been made.
///
/// It is the value of `SharedObject.current` in the tasks of the system, which inherit it. If they retained the application,
/// a task that sleeps would keep it alive.
package final class SimulatedReference: Sendable {
  private struct State {
    weak var application: Application?
    var isMade = false
    /// The number of scripts that are being played.
    var plays = 0
    /// What is to be done as soon as the application has been made, and as soon as the system is gone.
    var (uponMaking, uponLeaving): ([@Sendable (Application) -> Void], [@Sendable () -> Void]) = ([], [])
  }

  private let state = Guarded(State())
  /// Returns whether the present task belongs to the system.
  private let hasPresentTask: @Sendable () -> Bool

  /// The references of the systems that exist.
  private static let systems = Guarded<[SimulatedReference]>([])

  /// Makes the reference of a new system, before its first delegate is made.
  ///
  /// - Parameter hasPresentTask: returns whether the present task belongs to the system.
  package init(hasPresentTask: @escaping @Sendable () -> Bool) {
    self.hasPresentTask = hasPresentTask
    Self.systems.withLock { $0.append(self) }
  }

  /// Forgets the system, which is gone.
  package func leave() {
    Self.systems.withLock { systems in systems.removeAll { $0 === self } }
    for body in state.withLock({ $0.uponLeaving }) { body() }
  }

  /// Does something as soon as the system is gone.
  package func uponLeaving(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.uponLeaving.append(body) } }

  /// The application; nil before it has been made, and after it has been released.
  package var application: Application? { state.withLock { $0.application } }

  /// Notes the application, which has been made.
  package func refer(to application: Application) {
    let waiting = state.withLock { state in
      (state.application, state.isMade) = (application, true)
      defer { state.uponMaking = [] }
      return state.uponMaking
    }
    for body in waiting { body(application) }
  }

  /// Does something as soon as an application has been made, if the present code makes its first delegate; else returns false.
  package static func uponMaking(_ body: @escaping @Sendable (Application) -> Void) -> Bool {
    (SharedObject.current as? Self)?.state.withLock { state in
      if !state.isMade { state.uponMaking.append(body) }
      return !state.isMade
    } ?? false
  }

  private var isPlaying: Bool { state.withLock { $0.plays > 0 } }

  /// The reference for code that has inherited none: in a task that of its system, and nil if it belongs to none.
  ///
  /// Code outside of tasks, as on a dispatch queue, gets that of the only system that plays a script now or, if none does, of the
  /// only one that exists.
  static var ofPresentCode: SimulatedReference? {
    let systems = systems.withLock { $0 }
    if systems.isEmpty { return nil }
    if withUnsafeCurrentTask(body: { $0 != nil }) { return systems.first { $0.hasPresentTask() } }
    let playing = systems.filter(\.isPlaying)
    let candidates = playing.isEmpty ? systems : playing
    return candidates.count == 1 ? candidates[0] : nil
  }

  /// Plays a script, in which the application is `Application.shared`.
  ///
  /// - Parameter body: plays the script, on the main actor.
  /// - Returns: what the body returns.
  @MainActor package func playing<Result>(_ body: @MainActor () async -> Result) async -> Result {
    state.withLock { $0.plays += 1 }
    defer { state.withLock { $0.plays -= 1 } }
    return await SharedObject.$current.withValue(self, operation: body)
  }

  /// Makes the first delegate, whose code, like that of a program, has no shared application yet.
  ///
  /// The tasks that it starts have one as soon as the application has been made.
  ///
  /// - Parameter body: makes the delegate.
  /// - Returns: what the body returns.
  @MainActor package func making<Result>(_ body: () -> Result) -> Result {
    SharedObject.$current.withValue(self, operation: body)
  }
}
