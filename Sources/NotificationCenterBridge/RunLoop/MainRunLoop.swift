#if !canImport(Darwin)
  import Foundation

  /// Runs the main run loop until it has handled work of the main actor, or a source.
  ///
  /// Timers fire and performed blocks run meanwhile. The run loop waits without using processor time.
  ///
  /// `MainLoop` of `UnixHost` calls it instead of waiting itself. Neither library depends on the other, so the name is
  /// all that they share: `CUnixHost` declares it as a weak symbol, and looks whether the program contains it.
  ///
  /// - Returns: false if the run loop cannot run, and has not waited.
  @c(lifecycle_run_loop_turn)
  func runMainLoopTurn() -> Bool { RunLoop.main.run(mode: .default, before: .distantFuture) }
#endif
