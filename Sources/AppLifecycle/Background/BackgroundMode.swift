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
