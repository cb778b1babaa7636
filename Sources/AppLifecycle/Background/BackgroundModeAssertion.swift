/// A background mode that has begun.
///
/// Releasing the object does not end the mode, which then lasts as long as the process.
@MainActor public final class BackgroundModeAssertion {
  private weak var manager: BackgroundTaskManager?
  private let process: Int

  init(process: Int, manager: BackgroundTaskManager) { (self.process, self.manager) = (process, manager) }

  /// Ends the mode.
  ///
  /// When the last mode ends, a new stay in the background begins.
  ///
  /// A second call, or a call after the end of the process, has no effect.
  public func end() {
    manager?.endMode(ofProcess: process)
    manager = nil
  }
}
