/// A post exceeded the nesting limit and was refused; posted once the outermost post has returned.
///
/// It is posted on the bus that refused. Only the first refused post is reported, and none that is refused while a report is
/// being delivered, so that a report cannot lead to another.
public struct PostRefused: Event {
  /// The names of the events whose posts were nested, outermost first; the refused one is the last.
  public let chain: [EventName]
}
