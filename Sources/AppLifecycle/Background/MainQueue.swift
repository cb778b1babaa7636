internal import Dispatch

/// Tells whether the present thread runs the main queue, on which the main actor and every simulation run.
package enum MainQueue {
  private static let key: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  /// Marks the queue, so that the first question costs no more than a later one.
  package static func mark() { _ = key }

  /// Whether this thread runs the main queue; then `MainActor.assumeIsolated` succeeds.
  package static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }
}
