/// A background mode that has begun.
///
/// Releasing the object does not end the mode, which then lasts as long as the process.
@MainActor public final class BackgroundModeAssertion {
  /// The mode.
  public let mode: BackgroundMode

  private weak var manager: BackgroundTaskManager?
  private let process: Int

  init(mode: BackgroundMode, process: Int, manager: BackgroundTaskManager) {
    (self.mode, self.process, self.manager) = (mode, process, manager)
  }

  /// Ends the mode.
  ///
  /// When the last mode ends, a new stay in the background begins.
  ///
  /// A second call, or a call after the end of the process, has no effect.
  public func end() {
    manager?.end(mode, process: process)
    manager = nil
  }
}
