import Dispatch
import LibC
import PubSub
import Scheduling

/// Writes the queued text of a program that calls `exit` itself, before the terminal is restored.
enum ExitFlush {
  private static let terminal = Guarded<Terminal?>(nil)
  private static let owner = getpid()

  /// Handlers of `exit` run in reverse order, so this one runs before the one that restores the terminal.
  private static let handler: Void = {
    _ = owner
    atexit { if getpid() == owner { terminal.withLock { $0 }?.flush(within: patience) } }
  }()

  /// The time, in seconds, within which the terminal must accept the text.
  private static let patience = 1.0

  /// Flushes this terminal at an exit; called after the code that restores the terminal has been installed.
  static func begin(_ terminal: Terminal) {
    _ = handler
    self.terminal.withLock { $0 = terminal }
  }

  static func end() { terminal.withLock { $0 = nil } }
}
