import CUnixHost

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The environment of the process.
///
/// This is the only place where the hosts read it. Variables name files and sockets to which a host writes. A program
/// with privileges of its own (set-user-ID, set-group-ID, file capabilities) must not write to a file that its caller
/// chooses, so for such a program every variable counts as not set.
enum Environment {
  /// Returns the value of a variable; nil if it is not set, or if the program has privileges of its own.
  static func variable(_ name: String) -> String? { unixhost_getenv(name).map { String(cString: $0) } }

  /// Whether a variable is set, and ignored because the program has privileges of its own.
  static func isWithheld(_ name: String) -> Bool { getenv(name) != nil && unixhost_getenv(name) == nil }
}
