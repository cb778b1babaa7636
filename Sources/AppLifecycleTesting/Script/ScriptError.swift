/// A mistake in a script, and its place.
public struct ScriptError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong with a token.
  public enum Problem: Error, Sendable, Hashable {
    /// No action has this name.
    case unknownAction
    /// The action's word is right, what follows it is not.
    case malformed(expected: String)
    /// A name that has to follow is missing.
    case missingName
    /// A name with a character that may not stand in it.
    case malformedName
    /// A duration that is not up to 12 digits and a unit.
    case malformedDuration
    /// No delegate method has this name.
    case unknownCall
  }

  /// The line of the token, from 1.
  public let line: Int
  /// The column at which the token begins, in characters, from 1.
  public let column: Int
  /// The token as it was written.
  public let token: String
  /// What is wrong with it.
  public let problem: Problem

  /// `LINE:COLUMN: message`, in printable ASCII; what cannot be printed in the token is escaped as in a Swift literal.
  public var description: String { "\(line):\(column): \(problem.message(for: token.escapedToPrintableASCII))" }
}

extension ScriptError.Problem {
  fileprivate func message(for token: String) -> String {
    switch self {
    case .unknownAction: "unknown action \"\(token)\""
    case .malformed(let expected): "malformed action \"\(token)\": expected \(expected)"
    case .missingName: "a name is missing in \"\(token)\""
    case .malformedName: "malformed name in \"\(token)\": letters, digits, _, . and - may stand in it"
    case .malformedDuration:
      "malformed duration in \"\(token)\": expected up to 12 digits and a unit, ms, s, m, h or d, as in 500ms"
    case .unknownCall:
      "unknown call in \"\(token)\": expected a delegate method, such as didEnterBackground or sceneDidBecomeActive"
    }
  }
}

extension String {
  /// This text in printable ASCII alone; the rest is escaped as in a Swift literal, so that it can be told apart.
  var escapedToPrintableASCII: String {
    var escaped = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": escaped += "\\\""
      case "\\": escaped += "\\\\"
      case " "..."~": escaped.unicodeScalars.append(scalar)
      default: escaped += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      }
    }
    return escaped
  }
}
