/// What stands behind one event type: its subscribers in the order of delivery, wildcards and by-name ones merged in.
///
/// Everything here is guarded by the bus's lock. A post takes the array and iterates over it without the lock, so that who
/// subscribes meanwhile is not seen by that post.
final class TopicStorage<E: BusEvent>: AnyTopicStorage {
  typealias Swept = [Recipient<E>]

  private(set) var recipients: [Recipient<E>] = []
  /// The latest event of a sticky type, with who posted it.
  var latest: (event: E, subject: WeakReference?)?
  /// Subscribers whose owner is gone are swept out when the array has grown to this.
  private var sweepsAt = 16

  /// Inserts in order of priority, then of subscription.
  ///
  /// What is returned was swept out, and is to be released outside the lock.
  func insert(_ recipient: Recipient<E>) -> Swept {
    var swept: Swept = []
    if recipients.count >= sweepsAt {
      swept = recipients.filter { $0.registration.isExpired }
      if !swept.isEmpty { recipients.removeAll { $0.registration.isExpired } }
      sweepsAt = 2 * recipients.count + 16
    }
    let index = recipients.partitioningIndex { isOrdered(recipient.registration, before: $0.registration) }
    recipients.insert(recipient, at: index)
    return swept
  }

  func insert(_ wildcard: Wildcard) {
    let deliver = wildcard.deliver
    // Wildcards have no owner of this type to sweep for, so nothing is swept out here.
    let recipient = Recipient<E>(registration: wildcard.registration) { try deliver($0) }
    let index = recipients.partitioningIndex { isOrdered(wildcard.registration, before: $0.registration) }
    recipients.insert(recipient, at: index)
  }

  func remove(_ registration: Registration) -> (any Sendable)? {
    let index = recipients.partitioningIndex { !isOrdered($0.registration, before: registration) }
    guard index < recipients.count, recipients[index].registration === registration else { return nil }
    return recipients.remove(at: index)
  }

  var registrations: [Registration] { recipients.map(\.registration) }
}

/// The single order of delivery: higher priority first, then who subscribed first.
private func isOrdered(_ one: Registration, before other: Registration) -> Bool {
  one.priority != other.priority ? one.priority > other.priority : one.id < other.id
}

/// A topic whose event type is not known.
protocol AnyTopicStorage: AnyObject {
  func insert(_ wildcard: Wildcard)
  /// Takes a registration out; what is returned is to be released outside the lock.
  func remove(_ registration: Registration) -> (any Sendable)?
  var registrations: [Registration] { get }
}

/// A subscriber to every event type, or to those of one name.
struct Wildcard: Sendable {
  let registration: Registration
  /// The name that it asked for; nil for every event.
  let name: EventName?
  let deliver: @Sendable (any BusEvent) throws -> Void
}

/// All topics of a bus; guarded by the bus's lock.
struct TopicTable {
  private var topics: [ObjectIdentifier: any AnyTopicStorage] = [:]
  private var wildcards: [Wildcard] = []
  private var lastID: UInt64 = 0

  mutating func nextID() -> UInt64 {
    lastID += 1
    return lastID
  }

  /// The topic of a type, if somebody subscribed to it or to every event.
  mutating func existing<E: BusEvent>(_ type: E.Type) -> TopicStorage<E>? {
    if let topic = topics[ObjectIdentifier(type)] { return (topic as! TopicStorage<E>) }
    return wildcards.isEmpty && !E.traits.contains(.sticky) ? nil : topic(type)
  }

  /// The topic of a type, made if need be with the wildcards that stand.
  mutating func topic<E: BusEvent>(_ type: E.Type) -> TopicStorage<E> {
    if let topic = topics[ObjectIdentifier(type)] { return topic as! TopicStorage<E> }
    let topic = TopicStorage<E>()
    for wildcard in wildcards where wildcard.name == nil || wildcard.name == E.name { topic.insert(wildcard) }
    topics[ObjectIdentifier(type)] = topic
    names[ObjectIdentifier(type)] = E.name
    return topic
  }

  private var names: [ObjectIdentifier: EventName] = [:]

  mutating func insert(_ wildcard: Wildcard) {
    wildcards.append(wildcard)
    for (key, topic) in topics where wildcard.name == nil || wildcard.name == names[key] { topic.insert(wildcard) }
  }

  /// Takes a registration out of every place in which it stands; what is returned is to be released outside the lock.
  mutating func remove(_ registration: Registration) -> [any Sendable] {
    var removed: [any Sendable] = topics.values.compactMap { $0.remove(registration) }
    if let index = wildcards.firstIndex(where: { $0.registration === registration }) {
      removed.append(wildcards.remove(at: index))
    }
    return removed
  }

  /// Everybody who is subscribed, for the end of the bus.
  var registrations: [Registration] { topics.values.flatMap(\.registrations) + wildcards.map(\.registration) }
}

extension Array {
  /// The first index whose element satisfies a condition that no element before it does and every one after it does.
  fileprivate func partitioningIndex(where belongsToSecondPart: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if belongsToSecondPart(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
