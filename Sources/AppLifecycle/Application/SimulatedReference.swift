internal import Scheduling

/// A simulated system's application as the shared one: weak, and empty until the application has been made.
///
/// It is the value of `SharedObject.current` in the tasks of the system, which inherit it. If they retained the application,
/// a task that sleeps would keep it alive.
package final class SimulatedReference: Sendable {
  private struct State {
    weak var application: Application?
    /// The number of scripts that are being played.
    var plays = 0
  }

  private let state = Guarded(State())

  /// The references of the systems that exist.
  private static let systems = Guarded<[SimulatedReference]>([])

  /// Makes the reference of a new system, before its first delegate is made.
  package init() { Self.systems.withLock { $0.append(self) } }

  /// Forgets the system, which is gone.
  package func leave() { Self.systems.withLock { systems in systems.removeAll { $0 === self } } }

  /// The application; nil before it has been made, and after it has been released.
  package var application: Application? {
    get { state.withLock { $0.application } }
    set { state.withLock { $0.application = newValue } }
  }

  private var isPlaying: Bool { state.withLock { $0.plays > 0 } }

  /// The reference for code that has inherited none: that of the only system that plays a script now.
  ///
  /// Code that belongs to no task gets that of the only system that exists, if none plays.
  static var only: SimulatedReference? {
    let systems = systems.withLock { $0 }
    let playing = systems.filter(\.isPlaying)
    if playing.count == 1 { return playing[0] }
    guard playing.isEmpty, systems.count == 1, withUnsafeCurrentTask(body: { $0 == nil }) else { return nil }
    return systems[0]
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
