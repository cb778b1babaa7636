public import PubSub

extension Journal {
  /// The event that a journal cannot be written; it is posted once for each failure, on the thread that appended or
  /// that of a heartbeat.
  ///
  /// The program continues. The event is sticky: to receive it after the journal was opened, subscribe with replay.
  public struct DidFail: BusEvent, StickyEvent {
    /// The path of the journal.
    public let path: String
    /// The failure.
    public let failure: JournalFailure

    /// A sentence that says what the journal lacks from now on.
    public var missing: String {
      switch failure.operation {
      case .open, .lock, .recognize: "nothing is recorded until the journal can be written again"
      case .write: "at most the end of the run is recorded until the journal can be written again"
      case .flush: "the latest records may be lost if the machine goes down"
      case .rotate: "nothing is missing; the file grows beyond its limit"
      }
    }
  }

  /// The event that a journal can be written again; it is posted on the thread that appended, or on that of a
  /// heartbeat.
  ///
  /// It comes without a ``DidFail`` if another program has removed or cut the file.
  public struct DidRecover: BusEvent {
    /// The path of the journal.
    public let path: String
    /// The gap in the journal, which the file also contains.
    public let gap: JournalGap
  }
}
