import AppLifecycle

/// What happens to a window, as a library of windows reports it.
struct WindowEvent: Sendable, Hashable {
  enum Kind: Sendable { case gainedFocus, lostFocus, wasHidden, wasShown, wasClosed }

  let window: SceneIdentifier
  let kind: Kind

  init(_ kind: Kind, of window: SceneIdentifier) { (self.kind, self.window) = (kind, window) }
}
