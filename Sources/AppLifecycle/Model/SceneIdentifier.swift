/// The name of a window, which identifies its scene, and the session that outlives the scene.
public struct SceneIdentifier: StringRepresentable {
  /// The name, which a script writes after `scene:open:`; it may be any text.
  public let rawValue: String

  /// Creates an identifier with any name.
  ///
  /// - Parameter rawValue: the name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The scene to which inputs without a scene refer, such as `launch` and `open`.
  public static let main: SceneIdentifier = "main"
}
