extension Application {
  /// Ends the application in order, without asking its delegate, and has its host return an exit status.
  ///
  /// For a program that cannot go on, such as a service whose last listener failed. The first status other than zero stays until
  /// the next launch; a host that had to cut the tear-down short returns its own status.
  ///
  /// - Parameters:
  ///   - status: the exit status, as ``exitStatus`` shows it from now on.
  ///   - cause: what records and notifications call it; the input itself if nil.
  public func shutDown(status: Int32, cause: LifecycleCause? = nil) {
    transitions.setExitStatus(status)
    send(.shutDown, cause: cause)
  }
}
