internal import CPubSub

/// The steps of a post from Swift to C.
///
/// Where it can, a step ends with a tail call of the next one, so that it saves no registers. This is an enum without cases,
/// because a class would need a look-up of its metadata.
enum Posting {
  /// Posts an event to a topic that has been found.
  @inline(__always)
  static func post<E: EventBus.Event>(
    _ event: E, to topic: UnsafeMutablePointer<pubsub_topic>, from subject: (any AnyObject & Sendable)?
  ) {
    let flags = pubsub_flags(topic)
    let root = pubsub_root(topic)
    // Check both at once, so that a post without subscribers takes one branch.
    if UInt(bitPattern: flags) | UInt(bitPattern: root) == 0 { return }
    guard _fastPath(flags == 0), let root else { return postByAddress(event, to: topic, from: subject) }
    // In Direct.swift or Portable.swift, as the build is.
    deliver(event, to: topic, from: address(of: subject), root)
  }

  @inline(never)
  static func postOutOfLine<E: EventBus.Event>(_ event: E, on core: BusCore, from subject: (any AnyObject & Sendable)?)
  {
    post(event, to: core.topic(of: E.self), from: subject)
  }

  @inline(never)
  private static func postByAddress<E: EventBus.Event>(
    _ event: E, to topic: UnsafeMutablePointer<pubsub_topic>, from subject: (any AnyObject & Sendable)?
  ) {
    withUnsafePointer(to: event) { pubsub_post($0, topic, address(of: subject)) }
  }

  /// The subject of the innermost post under way on this thread; nil if none is.
  static var subject: (any AnyObject & Sendable)? {
    innermostFrame.flatMap { subject(at: $0.pointee.subject) }
  }

  /// The frame of the innermost post under way on this thread; nil if none is.
  static var innermostFrame: UnsafeMutablePointer<pubsub_frame>? {
    let record = pubsub_record_of_thread()
    let depth = pubsub_depth(record)
    return depth > 0 ? pubsub_frame_at(record, depth - 1) : nil
  }

  /// Returns the subject at an address: the poster passed it as `Sendable`, and the post keeps it alive.
  static func subject(at address: UnsafeRawPointer?) -> (any AnyObject & Sendable)? {
    unsafeBitCast(
      address.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }, to: (any AnyObject & Sendable)?.self)
  }

  /// Notes that the handler which the innermost post on this thread calls has not received the event.
  static func noteUnheard() { innermostFrame?.pointee.is_unheard = true }

  /// Calls code that no post has called, perhaps inside a handler: ``subject`` is nil for it.
  static func withoutSubject(_ body: () -> Void) {
    guard let frame = innermostFrame else { return body() }
    let subject = frame.pointee.subject
    frame.pointee.subject = nil
    body()
    frame.pointee.subject = subject
  }

  /// Returns the address of an object, such as a subject.
  @inline(__always)
  static func address(of object: AnyObject?) -> UnsafeRawPointer? {
    object.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
  }
}
