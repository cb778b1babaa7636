internal import CScheduling

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The environment of the process.
///
/// This is the only place where the library reads it. Variables name files and sockets to which it writes. A program with privileges of its own (set-user-ID, set-group-ID, file capabilities) must not write to a file that its caller
/// chooses, so for such a program every variable counts as not set.
package enum Environment {
  /// Returns the value of a variable; nil if it is not set, or if the program has privileges of its own.
  package static func variable(_ name: String) -> String? { scheduling_getenv(name).map { String(cString: $0) } }

  /// Whether a variable is set, and ignored because the program has privileges of its own.
  package static func isWithheld(_ name: String) -> Bool { getenv(name) != nil && scheduling_getenv(name) == nil }
}
