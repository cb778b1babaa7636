/// One subscriber of a post that takes its time: the post holds it, while others come and go.
struct Recipient<E: BusEvent>: Sendable {
  let registration: Registration
  /// What a post that does not wait calls: the handler, or what puts the event into a mailbox or a sequence.
  let deliver: @Sendable (E) throws -> Void
}
