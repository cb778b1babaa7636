/// A delegate's answer to the question whether its application may end.
///
/// There is no "later": the question is asynchronous, and a delegate that needs time, such as for an answer of the user's,
/// awaits it inside ``ApplicationDelegate/applicationShouldTerminate(_:cause:)``.
public enum TerminateReply: Sendable, Hashable {
  /// The application ends, in order.
  case now
  /// The application goes on; the input that asked is ignored (``IgnoredReason/refused``).
  case cancel
}
