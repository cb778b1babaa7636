/// Why an application may run in the background without limit.
public struct BackgroundMode: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name, as it stands in a script after `mode:begin:`.
  public let rawValue: String

  /// A mode of any name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A mode of any name, from a literal.
  public init(stringLiteral value: String) { self.init(rawValue: value) }

  /// The application plays or records sound.
  public static let audio: BackgroundMode = "audio"
  /// The application follows the position of the device.
  public static let location: BackgroundMode = "location"
  /// The application is a service.
  public static let service: BackgroundMode = "service"
  /// The application is a background job of a shell.
  public static let job: BackgroundMode = "job"
}

/// A background mode that has begun.
///
/// Releasing the object does not end the mode: it then lasts as long as the process.
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
  /// With the last mode, a new stay in the background begins.
  ///
  /// A second call has no effect, nor has a call after the end of the process.
  public func end() {
    manager?.end(mode, process: process)
    manager = nil
  }
}
