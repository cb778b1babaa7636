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
  /// The application follows where the device is.
  public static let location: BackgroundMode = "location"
  /// The application is a service.
  public static let service: BackgroundMode = "service"
  /// The application is a background job of a shell.
  public static let job: BackgroundMode = "job"
}

/// A background mode that stands until it is ended.
///
/// One that is released without having been ended stands on, as long as the process lives.
@MainActor public final class BackgroundModeAssertion {
  /// The mode.
  public let mode: BackgroundMode

  private weak var manager: BackgroundTaskManager?
  private let process: Int

  init(mode: BackgroundMode, process: Int, manager: BackgroundTaskManager) {
    (self.mode, self.process, self.manager) = (mode, process, manager)
  }

  /// Ends the mode; with the last one that stood, a new stay in the background begins.
  ///
  /// Ending it again has no effect, nor has ending one that went with its process.
  public func end() {
    manager?.end(mode, process: process)
    manager = nil
  }
}
