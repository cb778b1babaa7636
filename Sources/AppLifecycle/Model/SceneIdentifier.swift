/// The name of a window, which identifies its scene, and the session that outlives the scene.
public struct SceneIdentifier: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The name, which a script writes after `scene:open:`; it may be any text.
  public let rawValue: String

  /// Creates an identifier with any name.
  ///
  /// - Parameter rawValue: the name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates an identifier with any name from a string literal.
  ///
  /// - Parameter value: the name.
  public init(stringLiteral value: String) { self.init(rawValue: value) }

  /// The scene to which inputs without a scene refer, such as `launch` and `open`.
  public static let main: SceneIdentifier = "main"
}

extension SceneIdentifier: CustomStringConvertible {
  /// The name.
  public var description: String { rawValue }
}
