/// The exit status of the tool.
enum ExitStatus: Int32 {
  case success = 0
  /// The journal was read, and something in it is damaged or missing.
  case damaged = 1
  /// The script, or the trace that was to be replayed, has a mistake; nothing was played.
  case badScript = 2
  /// The arguments are invalid: EX_USAGE of `sysexits.h`.
  case usage = 64
  /// This build lacks what the command needs: EX_UNAVAILABLE.
  case unavailable = 69
  /// Reading or writing failed: EX_IOERR of `sysexits.h`.
  case inputOutput = 74
}
