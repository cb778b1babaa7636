/// Decides what the links of a bus send, post and report.
///
/// The type is pure: its methods take what happens, and it returns what to do, in order. All links of a bus share it, so that an
/// event that two links carry has one number, and one that comes by two ways is posted once.
struct LinkMachine: Sendable {
  typealias LinkID = Int
  typealias TopicID = Int

  struct Limits: Sendable, Hashable {
    /// The number of events of a topic that wait while a link is down.
    var waiting = 10_000
    /// The number of events of a topic that are kept for receivers that missed them.
    var kept = 1_000
    /// The number of messages that the transport holds at a time; libmosquitto looks through all of them at each message.
    var inTransit = 200
    /// The number of events of an origin and topic that are held back while an earlier one is missing.
    var held = 1_024
    /// The time in which an origin must send something of what a receiver has missed.
    var patience = Duration.seconds(30)
  }

  /// What to do.
  enum Output: Sendable, Hashable {
    case send(LinkMessage, number: UInt64, by: LinkID)
    /// Post an event that arrived on a topic.
    case post(topic: String, payload: [UInt8])
    /// Remove the latest event of a type that a topic has; of each such type if it is not known.
    case removeLatest(topic: String, type: String?)
    case missed(topic: String, origin: String, count: Int)
    case dropped(TopicID, count: Int, by: LinkID)
    case acknowledged(TopicID, through: Int, by: LinkID)
    case rejected(topic: String, reason: String)
    /// A link has sent what it had when its end began.
    case idle(LinkID, connection: Int)
  }

  let origin: String
  /// The topic on which receivers ask for what they have missed.
  let requests: String
  let limits: Limits
  var topics: [OutgoingTopic] = []
  var links: [LinkID: Lane] = [:]
  var incoming = Recent<IncomingTopic.Key, IncomingTopic>(limit: 10_000)
  /// What is missing, and what arrived too early.
  var gaps: [IncomingTopic.Key: Gap] = [:]
  /// The bytes that are held back in all gaps.
  var heldBytes = 0
  /// The earliest time at which ``timeDidPass(_:)`` may have something to do; nil if there is none.
  var deadline: Duration?
  /// The event that was read last.
  var former: CloudEvent?
  /// The events without a number, of foreign programs, that have been posted.
  var foreign = Recent<EventIdentity, Bool>(limit: 10_000)
  /// What the bus has as the latest event of each sticky topic.
  var latest = Recent<String, LatestEvent>(limit: 10_000)
  var outputs: [Output] = []

  init(origin: String, limits: Limits = Limits()) {
    (self.origin, self.limits, requests) = (origin, limits, Self.requestTopic(of: origin))
  }

  /// Takes what there is to do.
  mutating func takeOutputs() -> [Output] {
    defer { outputs = [] }
    return outputs
  }

  /// The topic on which an origin is asked for what a receiver has missed.
  static func requestTopic(of origin: String) -> String { "swift-app-lifecycle/link/\(origin)/requests" }

  static func isRequestTopic(_ topic: String) -> Bool {
    topic.hasPrefix("swift-app-lifecycle/link/") && topic.hasSuffix("/requests")
  }

  /// The `id` of an event of this process.
  static func id(_ number: Int, on topic: String) -> String { "\(topic)#\(number)" }

  /// Whether a source can be an origin that is asked: its name is one level of a topic.
  static func canBeAsked(_ source: String) -> Bool {
    source.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"+#/".utf8.contains($0) }
  }
}

/// A link, as the machine sees it.
struct Lane: Sendable {
  struct Sent: Sendable {
    let topic: LinkMachine.TopicID?
    let event: Int
    /// Whether the message only says that events up to this one were dropped.
    let isGap: Bool
    var isAcknowledged = false
  }

  var isUp = false
  /// Whether all that its end waits for has been sent; what is posted from then on waits for the next connection.
  var isEnding = false
  /// The number of the latest connection among those of the link.
  var connection = 0
  /// The number of the next message of this link.
  var next: UInt64 = 0
  /// The messages in the transport, in the order in which they were sent, up to the one before `next`.
  var inTransit = Fifo<Sent>()
  /// How far each topic has come on this link.
  var progress: [LinkMachine.TopicID: Progress] = [:]
  /// The topics on which events may wait, in the order in which they got one.
  var queue = Fifo<LinkMachine.TopicID>()
  /// The messages for receivers about what was sent before, which wait.
  var heads = Fifo<LinkMessage>()
  /// What other origins are to be asked for, in this order.
  var requests = Fifo<IncomingTopic.Key>()
  /// The elements of `requests`, each of which is there once.
  var isToBeAsked: Set<IncomingTopic.Key> = []
  /// What is sent again for receivers that miss it.
  var resends: [LinkMachine.TopicID: Resend] = [:]
  /// The topics in `resends`, in the order of the next messages.
  var resendQueue = Fifo<LinkMachine.TopicID>()
  /// The requests, and the messages that were sent again, since the last new event.
  var servedInRow = 0
  /// The most of them while new events wait.
  ///
  /// Others may ask, or let this link ask, again and again, so new events have turns; receivers hold those back, so the turns are few.
  static let mostServedInRow = 4
  /// How far each topic must come before the link may end; nil if its end is not awaited.
  var goals: [LinkMachine.TopicID: Int]?

  /// Changes the progress of a topic by its place; a subscript with a key would allocate memory for each change.
  mutating func changeProgress(of topic: LinkMachine.TopicID, _ change: (inout Progress) -> Void) {
    if let place = progress.index(forKey: topic) { change(&progress.values[place]) }
  }

  struct Progress: Sendable {
    /// The number of the last event that was given to the transport, or dropped.
    var sent: Int
    /// The number of the last event for which the link owes nothing any more.
    var acknowledged: Int
    /// Whether the topic is in `queue`.
    var isQueued = false
    /// The events that were dropped before they were sent, and are not acknowledged yet.
    var dropped: [ClosedRange<Int>] = []

    /// Notes that events were dropped; ranges do not overlap.
    mutating func drop(_ range: ClosedRange<Int>) {
      let joined = dropped.filter { $0.upperBound >= range.lowerBound - 1 && $0.lowerBound <= range.upperBound + 1 }
      dropped.removeAll(where: joined.contains)
      let bounds = joined.reduce((range.lowerBound, range.upperBound)) {
        (min($0.0, $1.lowerBound), max($0.1, $1.upperBound))
      }
      dropped.append(bounds.0...bounds.1)
    }

    mutating func didAcknowledge(_ number: Int) {
      acknowledged = number
      if !dropped.isEmpty { dropped.removeAll { $0.upperBound <= number } }
    }
  }

  struct Resend: Sendable {
    var next: Int
    var through: Int
  }
}

/// A topic on which events of this process are sent.
struct OutgoingTopic: Sendable {
  let name: String
  let type: String
  let quality: LinkQuality
  let isSticky: Bool
  let envelope: Envelope
  /// The number of the latest event.
  var last = 0
  /// The latest events, in order.
  var kept = Fifo<(number: Int, content: Content)>()

  enum Content: Sendable {
    /// The event's data as its message has it: JSON, or base64.
    case data([UInt8])
    /// The latest event of a sticky type is removed.
    case removal
    /// The event, and those before it that are not kept, were dropped or cannot be encoded.
    case lost
  }

  /// The number of events that are kept, have a number in one of the ranges, and one greater than `number`.
  func count(of ranges: [ClosedRange<Int>], after number: Int) -> Int {
    ranges.reduce(0) { sum, range in
      sum + places(after: max(number, range.lowerBound - 1)).count - places(after: max(number, range.upperBound)).count
    }
  }

  /// The events whose number is greater than this one, as places in `kept`; numbers may be missing.
  func places(after number: Int) -> Range<Int> {
    var (low, high) = (0, kept.count)
    while low < high {
      let middle = (low + high) / 2
      if kept[middle].number <= number { low = middle + 1 } else { high = middle }
    }
    return low..<kept.count
  }
}
