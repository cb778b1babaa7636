/// A sequence of actions for a simulated system, read from text.
///
/// Each token of the text is an action. White space, `;` and new lines separate tokens; `#` begins a comment up to the
/// end of the line.
///
///     launch; home     # the user starts the application and leaves
///     wait:5s          # the system suspends it
///     open
///
/// <doc:ScriptLanguage> lists the actions. The whole text is read before any action is played, so a script with a mistake
/// has no effect.
public struct Script: Sendable, Hashable {
  /// The actions in their order.
  public let actions: [ScriptAction]

  package init(_ actions: [ScriptAction]) { self.actions = actions }

  /// Reads a script.
  ///
  /// - Parameter text: the script; an empty one has no actions.
  /// - Throws: a ``ScriptError`` for the first mistake, with its place.
  /// - Complexity: linear in the length of the text.
  public init(_ text: String) throws(ScriptError) {
    var actions: [ScriptAction] = []
    var tokens = ScriptLexer(text)
    while let token = tokens.next() {
      do throws(ScriptError.Problem) {
        let kind = try ScriptAction.Kind(token: token.text)
        actions.append(ScriptAction(kind: kind, token: token.text, line: token.line, column: token.column))
      } catch {
        throw ScriptError(line: token.line, column: token.column, token: token.text, problem: error)
      }
    }
    self.actions = actions
  }
}
