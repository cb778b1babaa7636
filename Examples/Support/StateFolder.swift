import Glibc

/// The folder in which a user's programs keep state between runs, by the XDG base directory specification.
package enum StateFolder {
  /// The path of a file in the user's folder of state.
  ///
  /// - Parameters:
  ///   - file: the file's path inside that folder.
  ///   - environment: the value of a variable of the environment.
  /// - Returns: the path; nil if the environment has neither `XDG_STATE_HOME` nor `HOME`.
  package static func path(
    _ file: String, _ environment: (String) -> String? = { getenv($0).map { String(cString: $0) } }
  ) -> String? {
    if let base = environment("XDG_STATE_HOME"), base.hasPrefix("/") { return "\(base)/\(file)" }
    return environment("HOME").map { "\($0)/.local/state/\(file)" }
  }
}
