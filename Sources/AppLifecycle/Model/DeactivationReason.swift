/// A reason why an application in the foreground is not active.
///
/// An application has a *set* of reasons, and is active only while the set is empty. If a second interruption begins
/// during the first, the application therefore resigns active only once, and becomes active only when both have ended.
/// A host or a test names other reasons by a literal, such as `"faceID"` or `"controlCenter"`.
public struct DeactivationReason: StringRepresentable {
  /// The name of the reason, which a script writes after `interrupt:`.
  public let rawValue: String

  /// Creates a reason with any name.
  ///
  /// - Parameter rawValue: the name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The application is being launched.
  package static let launching: DeactivationReason = "launching"
  /// A phone call covers the application.
  public static let call: DeactivationReason = "call"
  /// The application switcher is open.
  package static let appSwitcher: DeactivationReason = "appSwitcher"
  /// The terminal or window lost the keyboard focus; with scenes, every window in the foreground.
  public static let focusLost: DeactivationReason = "focusLost"
}
