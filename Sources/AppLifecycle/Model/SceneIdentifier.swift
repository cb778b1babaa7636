/// The name of a scene, and of the session that outlives it: one window of the application, as the user sees it.
public struct SceneIdentifier: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name, as it stands in a script after `scene:open:`; any text is one.
  public let rawValue: String

  /// An identifier of any name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// An identifier of any name, from a literal.
  public init(stringLiteral value: String) { self.init(rawValue: value) }

  /// The scene that is meant where an input names none: that of `launch` and `open`.
  public static let main: SceneIdentifier = "main"
}
