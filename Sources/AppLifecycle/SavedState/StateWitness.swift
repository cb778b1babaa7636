/// What follows the promises of saved state in a simulation, and sees whether the next process finds them kept.
///
/// Values are compared as the text in which they are encoded.
@MainActor package protocol StateWitness: AnyObject {
  /// The program asks for a save while it has these values; returns the number of the request.
  func didAsk(toSave values: [StateValueName: String]) -> Int
  /// A save begins, of these values.
  func didTake(_ values: [StateValueName: String])
  /// A request was answered: its values are saved.
  func didPromise(_ request: Int)
  /// The process has looked for state.
  func didRestore(_ find: StateFind)
  /// A value was made or restored, and is now this.
  func didFind(_ value: String, as name: StateValueName)
  /// A window was closed, with all its values.
  func didForget(_ session: String)
}

/// The name of a saved value, of the application or of a window.
package struct StateValueName: Sendable, Hashable {
  /// The window's session; nil for the application.
  package let session: String?
  package let key: String

  package init(session: String?, key: String) { (self.session, self.key) = (session, key) }
}

/// What a process does with the state that it finds.
package enum StateFind: Sendable, Hashable {
  /// It uses it, or there is none.
  case used
  /// The delegate did not want it.
  case refused
  /// It was set aside, or left alone.
  case unusable
}
