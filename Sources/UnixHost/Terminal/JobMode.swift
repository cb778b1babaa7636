import AppLifecycle

/// The background mode *job* of a program that runs in the background of its terminal.
final class JobMode: Sendable {
  private let application: Application
  @MainActor private var assertion: BackgroundModeAssertion?

  init(_ application: Application) { self.application = application }

  /// Begins or ends the mode.
  @MainActor func set(_ isJob: Bool) {
    assertion?.end()
    assertion = isJob ? application.beginBackgroundMode() : nil
  }
}
