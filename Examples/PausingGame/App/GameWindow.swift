import AppLifecycle

/// What the game needs of one of its windows.
///
/// In the program SDL has the windows; tests have windows that are never shown.
@MainActor protocol GameWindow: AnyObject, Sendable {
  /// Makes the textures that the pictures consist of.
  ///
  /// - Throws: why the window's device made none.
  func makeTextures() throws

  /// Frees the textures; without effect where there are none.
  func freeTextures()

  /// Closes the window.
  func close()
}
