/// An action of a simulated device that no host can send: the process is gone by then, or the system tells no program.
///
/// The raw value is the action of the script language.
package enum DeviceInput: String, Sendable, Hashable, CaseIterable {
  /// The user opens the application switcher over the application.
  case openSwitcher = "switcher"
  /// The user returns from the switcher to the application.
  case returnFromSwitcher = "switcher:return"
  /// The user chooses another application in the switcher.
  case leaveThroughSwitcher = "switcher:leave"
  /// The user swipes the application away in the switcher.
  case killFromSwitcher = "switcher:kill"
  /// The system kills a suspended application to free its memory.
  case reclaim
  /// The process dies at once.
  case crash
  /// The system kills an application that misbehaved, such as one that overran its time.
  ///
  /// The script language has no action for it, because it follows from the application's own behavior. The raw value is
  /// its name as a cause.
  case purge
  /// The device restarts.
  case reboot
}
