import AppLifecycle

/// A window, as the game uses it.
///
/// The program's windows are SDL's; tests have windows that are never shown.
@MainActor protocol GameWindow: AnyObject, Sendable {
  /// Makes the textures that the pictures consist of.
  ///
  /// - Throws: the reason for which the window's device made none.
  func makeTextures() throws

  /// Frees the textures; without effect where there are none.
  func freeTextures()

  /// Closes the window.
  func close()
}
