/// A reason why an application may run in the background without a time limit.
public struct BackgroundMode: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name of the mode, which a script writes after `mode:begin:`.
  public let rawValue: String

  /// Creates a mode with any name.
  ///
  /// - Parameter rawValue: the name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a mode with any name from a string literal.
  ///
  /// - Parameter value: the name.
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

extension BackgroundMode: CustomStringConvertible {
  /// The name of the mode.
  public var description: String { rawValue }
}

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
