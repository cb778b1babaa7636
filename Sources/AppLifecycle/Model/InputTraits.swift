/// What an input can do, as far as code asks beside the state machine.
///
/// Each switch below names every input, so a new input does not compile before it has its traits.
package struct InputTraits: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The user acts on the screen, which is impossible while the screen is locked.
  static let needsUnlockedScreen = InputTraits(rawValue: 1 << 0)
  /// The input is for one window.
  static let isOfOneScene = InputTraits(rawValue: 1 << 1)
  /// The input launches an application that is not running.
  static let launches = InputTraits(rawValue: 1 << 2)
  /// The input can bring an application to the foreground.
  static let mayBringToForeground = InputTraits(rawValue: 1 << 3)
  /// The application is not to be suspended after this input, which wakes it, may bring it to the foreground, or ends it.
  static let revokesSuspension = InputTraits(rawValue: 1 << 4)
  /// The input ends the process, unless the delegate refuses.
  package static let endsProcess = InputTraits(rawValue: 1 << 5)
  /// The process may be suspended after this input.
  package static let leavesForeground = InputTraits(rawValue: 1 << 6)
}

extension SystemInput {
  package var traits: InputTraits {
    switch self {
    case .launch, .open: [.needsUnlockedScreen, .launches, .mayBringToForeground, .revokesSuspension]
    case .openScene: [.needsUnlockedScreen, .isOfOneScene, .launches, .mayBringToForeground, .revokesSuspension]
    case .unlock: [.mayBringToForeground, .revokesSuspension]
    case .launchInBackground: [.launches, .leavesForeground]
    case .fetch: [.launches, .revokesSuspension]
    case .wake: .revokesSuspension
    case .home: [.needsUnlockedScreen, .leavesForeground]
    case .lock: .leavesForeground
    case .terminate, .shutDown: [.revokesSuspension, .endsProcess]
    case .sendSceneToBackground: [.isOfOneScene, .leavesForeground]
    case .connectScene, .unfocusScene, .focusScene, .reclaimScene, .closeScene: .isOfOneScene
    case .setPasscode, .beginInterruption, .endInterruption, .memoryWarning, .significantTimeChange, .suspend: []
    }
  }
}

extension DeviceInput {
  package var traits: InputTraits {
    switch self {
    case .openSwitcher, .returnFromSwitcher, .leaveThroughSwitcher: .needsUnlockedScreen
    case .killFromSwitcher, .crash, .purge, .reboot: [.revokesSuspension, .endsProcess]
    // Only a suspended application is reclaimed; while one goes there, the input is ignored.
    case .reclaim: .endsProcess
    }
  }
}
