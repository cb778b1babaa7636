import AppLifecycle

/// A mistake in a script, and its place.
public struct ScriptError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of mistake in a token.
  public enum Problem: Error, Sendable, Hashable {
    /// No action has this name.
    case unknownAction
    /// The action's word is known, but its arguments are wrong.
    case malformed(expected: String)
    /// A required name is missing.
    case missingName
    /// A name contains a character that is not allowed in names.
    case malformedName
    /// A duration does not consist of up to 12 digits and a unit.
    case malformedDuration
    /// No delegate method has this name, and it is not `save`.
    case unknownCall
    /// The system that is to play the script has no action of this name; see ``SimulatedSystem/addAction(_:always:_:)``.
    case actionNotAdded
  }

  /// The line of the token, from 1.
  public let line: Int
  /// The column at which the token begins, in characters, from 1.
  public let column: Int
  /// The token as it was written.
  public let token: String
  /// The kind of mistake.
  public let problem: Problem

  /// The error as `LINE:COLUMN: message`, in printable ASCII; other characters of the token are escaped as in a Swift
  /// literal.
  public var description: String {
    let token = token.escaped { !(" "..."~").contains($0) || $0 == "\"" || $0 == "\\" }
    return "\(line):\(column): \(problem.message(for: token))"
  }
}

extension ScriptError.Problem {
  fileprivate func message(for token: String) -> String {
    switch self {
    case .unknownAction: "unknown action \"\(token)\""
    case .malformed(let expected): "malformed action \"\(token)\": expected \(expected)"
    case .missingName: "a name is missing in \"\(token)\""
    case .malformedName: "malformed name in \"\(token)\": expected letters, digits, _, . and -"
    case .malformedDuration:
      "malformed duration in \"\(token)\": expected up to 12 digits and a unit, ms, s, m, h or d, as in 500ms"
    case .unknownCall:
      "unknown call in \"\(token)\": expected save or a delegate method, such as didEnterBackground or sceneDidBecomeActive"
    case .actionNotAdded: "no action of the test for \"\(token)\": add it with SimulatedSystem.addAction"
    }
  }
}
