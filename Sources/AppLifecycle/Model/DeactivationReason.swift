/// Why an application in the foreground is not active.
///
/// Inactive is a *set* of reasons: the application is active only while the set is empty. A second interruption during a
/// first one therefore neither resigns twice, nor does the end of the first one re-activate the application.
public struct DeactivationReason: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name, as it stands in a script after `interrupt:`.
  public let rawValue: String

  /// A reason of any name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A reason of any name, from a literal.
  public init(stringLiteral value: String) { self.init(rawValue: value) }

  /// The application is being launched.
  public static let launching: DeactivationReason = "launching"
  /// A phone call.
  public static let call: DeactivationReason = "call"
  /// An alert of the system.
  public static let alert: DeactivationReason = "alert"
  /// The control center is open.
  public static let controlCenter: DeactivationReason = "controlCenter"
  /// The notification center is open.
  public static let notificationCenter: DeactivationReason = "notificationCenter"
  /// The system looks at the user's face.
  public static let faceID: DeactivationReason = "faceID"
  /// The application switcher is open.
  public static let appSwitcher: DeactivationReason = "appSwitcher"
  /// The terminal or window lost the keyboard focus; with scenes, every window in the foreground.
  public static let focusLost: DeactivationReason = "focusLost"
}
