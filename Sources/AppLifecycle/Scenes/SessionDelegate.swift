/// A delegate that is told of the end of sessions; a `UIApplicationDelegate` of the module NotificationCenterBridge is one.
///
/// Not for programs: it is public because that public protocol refines it.
@MainActor public protocol _SessionDelegate: ApplicationDelegate {
  /// Tells the delegate that the user has closed a window.
  ///
  /// - Parameters:
  ///   - application: the application of the window.
  ///   - session: the window's session, which has ended.
  func _application(_ application: Application, sessionDidEnd session: SceneSession)
}
