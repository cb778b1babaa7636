import Foundation
import NotificationCenterBridge
import PubSub
import Synchronization
import Testing

/// The way from a scenario's posts to its observers.
enum StageKind: CaseIterable {
  /// A center alone.
  case plain
  /// A center that exchanges with a bus.
  case bridged
  /// The scenario posts events on a bus, which exchanges with the center. The sender is the subject of the post.
  case fromBus
  /// The scenario posts at another center. Both centers exchange with one bus.
  case relayed
  /// As ``relayed``, and every second post of the scenario is an event on the bus.
  case mixed

  /// The stages on which the scenario posts notifications.
  static let withNotifications: [StageKind] = [.plain, .bridged, .relayed]
}

/// The notifications of the scenarios, each with its event type.
enum Topic: CaseIterable {
  case ordered, paid

  var type: any Note.Type {
    switch self {
    case .ordered: Ordered.self
    case .paid: Paid.self
    }
  }
}

/// An event with any sender and any values.
protocol Note: BusEvent, NotificationConvertible {
  init(sender: Sender?, info: NotificationInfo)
}

extension Note {
  init(_ notification: Notification) throws {
    var info = NotificationInfo()
    info[.text] = try notification.value(for: .text)
    info[.numbers] = try? notification.value(for: .numbers)
    info[.part] = try? notification.value(for: .part)
    self.init(sender: notification.object == nil ? nil : try notification.object(), info: info)
  }
}

struct Ordered: Note {
  let (notificationObject, notificationInfo): ((any AnyObject & Sendable)?, NotificationInfo)
  init(sender: Sender?, info: NotificationInfo) { (notificationObject, notificationInfo) = (sender, info) }
}

struct Paid: Note {
  let (notificationObject, notificationInfo): ((any AnyObject & Sendable)?, NotificationInfo)
  init(sender: Sender?, info: NotificationInfo) { (notificationObject, notificationInfo) = (sender, info) }
}

/// Two senders of one name are equal, and not identical.
final class Sender: Hashable, Sendable {
  let name: String
  init(_ name: String) { self.name = name }
  static func == (left: Sender, right: Sender) -> Bool { left.name == right.name }
  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

extension NotificationKey<String> {
  static var text: Self { "text" }
}

extension NotificationKey<[Int]> {
  static var numbers: Self { "numbers" }
}

extension NotificationKey<Sender> {
  static var part: Self { "part" }
}

/// Offers a scenario a center, a way to post, and a log.
///
/// It counts each post at each center and on the bus.
final class Stage: Sendable {
  private struct Token: @unchecked Sendable {
    let observer: any NSObjectProtocol
  }

  let kind: StageKind
  /// The center of the scenario's observers.
  let center: NotificationCenter
  /// The center at which the scenario's notifications are posted.
  let entry: NotificationCenter
  let log = Log()
  private let bus = EventBus()
  private let posts = Atomic(0)
  private let posted = Log()
  private let seenOnBus = Log()
  private let seenAtCenter = Log()
  private let seenAtEntry = Log()
  private let tokens = Mutex<[(label: String, token: Token)]>([])
  private let witnesses: [Token]
  private let subscriptions: [EventBus.Subscription]
  private let links: [NotificationLink]

  init(_ kind: StageKind, _ center: NotificationCenter = NotificationCenter()) {
    (self.kind, self.center) = (kind, center)
    entry = kind == .relayed || kind == .mixed ? NotificationCenter() : center
    witnesses = [(center, seenAtCenter), (entry, seenAtEntry)].map { center, log in
      Token(
        observer: center.addObserver(forName: nil, object: nil, queue: nil) { notification in
          log.add(Self.line(notification.name, notification.object, notification.userInfo?["text"]))
        })
    }
    let (bus, seenOnBus) = (bus, seenOnBus)
    func subscribe<N: Note>(_: N.Type) -> EventBus.Subscription {
      bus.subscribe(to: N.self) { note in
        seenOnBus.add(Self.line(N.notificationName, EventBus.subjectOfPost, note.notificationInfo[.text]))
      }
    }
    let types = Topic.allCases.map(\.type)
    subscriptions = types.map { subscribe($0) }
    let bridged: [NotificationCenter] =
      switch kind {
      case .plain: []
      case .bridged, .fromBus: [center]
      case .relayed, .mixed: [center, entry]
      }
    links = bridged.flatMap { center in types.map { NotificationCenterBridge(bus, to: center).exchange($0) } }
  }

  /// Ends the observers, and checks that both centers and the bus saw each post once.
  func end(_ location: SourceLocation) {
    for (_, token) in tokens.withLock({ $0 }) { center.removeObserver(token.observer) }
    center.removeObserver(witnesses[0].observer)
    entry.removeObserver(witnesses[1].observer)
    for link in links { link.cancel() }
    // The order among a center's observers is not fixed, so a nested post may come before the outer one.
    let expected = posted.all.sorted()
    #expect(seenAtCenter.all.sorted() == expected, "at the center", sourceLocation: location)
    #expect(seenAtEntry.all.sorted() == expected, "at the entry", sourceLocation: location)
    #expect(seenOnBus.all.sorted() == (kind == .plain ? [] : expected), "on the bus", sourceLocation: location)
  }

  // MARK: Posting

  func post(_ topic: Topic, _ text: String, from sender: Sender? = nil, _ more: NotificationInfo = NotificationInfo()) {
    var info = more
    info[.text] = text
    let name = topic.type.notificationName
    posted.add(Self.line(name, sender, text))
    let isOnBus =
      switch kind {
      case .plain, .bridged, .relayed: false
      case .fromBus: true
      case .mixed: posts.add(1, ordering: .relaxed).newValue.isMultiple(of: 2)
      }
    if isOnBus {
      bus.post(topic.type.init(sender: nil, info: info), from: sender)
    } else {
      entry.post(name: name, object: sender, userInfo: info.userInfo)
    }
  }

  /// Announces a post that the scenario makes at ``entry`` itself.
  func willPost(_ topic: Topic, _ text: String) {
    posted.add(Self.line(topic.type.notificationName, nil, text))
  }

  private static func line(_ name: Notification.Name, _ sender: Any?, _ text: Any?) -> String {
    "\(name.rawValue) \((sender as? Sender)?.name ?? "-") \(text ?? "-")"
  }

  // MARK: Observing

  /// Adds an observer, which logs its label and the text of each notification before it calls `body`.
  func observe(
    _ label: String, _ topic: Topic?, of sender: Sender? = nil, on queue: OperationQueue? = nil,
    _ body: @escaping @Sendable (Stage, Notification) -> Void = { _, _ in }
  ) {
    // Weak: the stage keeps the center.
    let observer = center.addObserver(forName: topic?.type.notificationName, object: sender, queue: queue) {
      [weak self] notification in
      guard let self else { return }
      log.add("\(label): \((try? notification.value(for: .text)) ?? "-")")
      body(self, notification)
    }
    let token = Token(observer: observer)
    tokens.withLock { $0.append((label, token)) }
  }

  /// Removes the observers of a label entirely; a second call removes them a second time.
  func remove(_ label: String) {
    for token in tokens(label) { center.removeObserver(token.observer) }
  }

  /// Removes the observers of a label that observe this name and this object.
  func remove(_ label: String, _ topic: Topic, of sender: Sender?) {
    for token in tokens(label) {
      center.removeObserver(token.observer, name: topic.type.notificationName, object: sender)
    }
  }

  private func tokens(_ label: String) -> [Token] {
    tokens.withLock { tokens in tokens.filter { $0.label == label }.map(\.token) }
  }
}

/// Runs a scenario on a stage.
///
/// - Returns: the scenario's log.
func play(
  _ kind: StageKind, at center: NotificationCenter = NotificationCenter(), location: SourceLocation = #_sourceLocation,
  _ scenario: (Stage) -> Void
) -> [String] {
  let stage = Stage(kind, center)
  scenario(stage)
  stage.end(location)
  return stage.log.all
}

/// Runs a scenario that waits for other threads, on a thread of its own: the threads of tasks are few, and must not wait.
///
/// - Returns: the scenario's log.
func playOnThread(
  _ kind: StageKind, location: SourceLocation = #_sourceLocation, _ scenario: @escaping @Sendable (Stage) -> Void
) async -> [String] {
  let stage = Stage(kind)
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      scenario(stage)
      continuation.resume()
    }
  }
  stage.end(location)
  return stage.log.all
}
