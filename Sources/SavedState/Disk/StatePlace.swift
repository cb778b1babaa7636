/// Where a service's or the user's directory for state is, by systemd.exec(5), the XDG Base Directory Specification, or Apple's File
/// System Programming Guide.
enum StatePlace {
  /// Returns the directory of a program's state; nil if the environment names none.
  static func directory(of program: String, variable: (String) -> String?) -> String? {
    // The specification wants relative paths to be ignored.
    let home = variable("HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
    #if canImport(Darwin)
      return home.map { "\($0)/Library/Application Support/\(program)" }
    #else
      // The service manager's; of several, separated by colons, the first.
      if let state = variable("STATE_DIRECTORY")?.split(separator: ":").first, state.hasPrefix("/") {
        return String(state)
      }
      if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return "\(state)/\(program)" }
      return home.map { "\($0)/.local/state/\(program)" }
    #endif
  }
}
