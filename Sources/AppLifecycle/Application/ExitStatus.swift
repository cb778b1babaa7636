/// The exit statuses of a program whose life cycle it is; a host adds its own.
package enum ExitStatus {
  /// `EX_SOFTWARE` of sysexits.h: a tear-down, an open background task or the delegate's answer overran its budget.
  package static let tearDownOverran: Int32 = 70
}
