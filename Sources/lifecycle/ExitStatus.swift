/// The exit status of the tool.
struct ExitStatus: RawRepresentable {
  let rawValue: Int32

  static let success = ExitStatus(rawValue: 0)
  /// The journal was read, and something in it is damaged or missing.
  static let damaged = ExitStatus(rawValue: 1)
  /// The script, or the trace that was to be replayed, has a mistake; nothing was played.
  static let badScript = ExitStatus(rawValue: 2)
  /// The arguments are invalid: EX_USAGE of `sysexits.h`.
  static let usage = ExitStatus(rawValue: 64)
  /// This build lacks what the command needs: EX_UNAVAILABLE.
  static let unavailable = ExitStatus(rawValue: 69)
  /// Reading or writing failed: EX_IOERR of `sysexits.h`.
  static let inputOutput = ExitStatus(rawValue: 74)
}
