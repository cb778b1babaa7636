import AppLifecycle

extension ExitStatus {
  /// The program ended in order.
  static let success: Int32 = 0
  /// `EX_UNAVAILABLE` of sysexits.h: the terminal cannot show the program's screen.
  static let unavailable: Int32 = 69
  /// `EX_IOERR` of sysexits.h: the terminal did not accept the output that restores it.
  static let outputFailed: Int32 = 74
  /// `EX_OSERR` of sysexits.h: the system had no descriptor or no thread for the host.
  static let systemRefused: Int32 = 71
}
