/// How the package was built.
enum Build {
  /// Whether the bus was built the portable way, in plain Swift and plain C (`PUBSUB_PORTABLE`).
  static var isPortable: Bool {
    #if PUBSUB_PORTABLE
      true
    #else
      false
    #endif
  }
}
