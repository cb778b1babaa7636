public import AppLifecycle
public import Observation
public import PubSub

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The processes that announce their life cycle on topics of a broker, as one link sees them.
///
///     let fleet = Fleet()
///     let link = try EventLink(of: application, to: transport) { link in
///       try link.announceLifeCycle(as: "shop/checkout")
///       try link.follow(fleet, on: "shop/+")
///     }
///
/// The fleet is observable, and the bus posts each change as ``MemberDidChange``. Soon after the link
/// is open it has what the broker keeps, also of processes that have ended or vanished since. While the link is down it stays as it was; see ``isCurrent``.
@MainActor @Observable public final class Fleet {
  /// A process that announces its life cycle.
  public struct Member: Sendable, Hashable, Identifiable {
    /// The topic of its announcements.
    public let id: String
    /// What it has announced last, or what the broker has.
    public internal(set) var state: MemberState
    /// Why it is in this state: `SIGTERM`, `home`; nil if that is not known.
    public internal(set) var cause: String?
    /// When it announced that, by its own clock; of one that has vanished, when it had connected.
    public internal(set) var time: Date?
    /// Names its connection, with which its life begins here: a process that has started again has another one.
    public internal(set) var birth: String
  }

  /// The most members, and the most Unicode scalars of a text of each: one character may have any number of them.
  private static let (most, longest) = (10_000, 200)
  /// The time that processes have to connect again after the fleet's link.
  nonisolated static let patience = Duration.seconds(30)

  /// A state of another process.
  public enum MemberState: Sendable, Hashable, CustomStringConvertible {
    /// It runs.
    case running(ApplicationState)
    /// It has ended in order, with this exit status.
    case ended(status: Int32)
    /// It has ended, or lost its connection, and announced nothing.
    case vanished

    /// The state of a process that runs.
    fileprivate var running: ApplicationState? { if case .running(let state) = self { state } else { nil } }

    /// The state in one or two words.
    public var description: String {
      switch self {
      case .running(let state): state.rawValue
      case .ended(let status): "ended (\(status))"
      case .vanished: "vanished"
      }
    }
  }

  /// A member has appeared, has changed, or is gone; the subject of the post is the fleet.
  ///
  /// A process that has connected again is a change even if its state is the same: its ``Member/birth`` differs.
  public struct MemberDidChange: MainActorEvent {
    /// The fleet.
    public let fleet: Fleet
    /// The member as it is now; nil if the broker keeps nothing about it any more.
    public let member: Member?
    /// The member as it was; nil if it has appeared.
    public let former: Member?
  }

  /// The members, ordered by topic.
  public private(set) var members: [Member] = []
  /// Whether the link is open, so that the members are as the broker knows them.
  public internal(set) var isCurrent = false
  /// The members that have a connection, as far as the broker has announced it.
  @ObservationIgnored private var connected: Set<String> = []
  /// The members that the broker has not announced again since the link was opened.
  @ObservationIgnored private var unconfirmed: Set<String> = []

  /// Makes a fleet without members.
  public init() {}

  /// Takes an announcement; the empty one removes the member.
  func take(_ announcement: Announcement?, on topic: String, _ bus: EventBus) {
    let end = place(of: topic)
    let place = end < members.count && members[end].id == topic ? end : nil
    let former = place.map { members[$0] }
    guard let announcement else {
      connected.remove(topic)
      guard let place else { return }
      members.remove(at: place)
      return bus.post(MemberDidChange(fleet: self, member: nil, former: former), from: self)
    }
    let birth = announcement.birth.cut(toScalars: Self.longest)
    // The broker may be late to notice that a connection is lost, when the process has long made another one. But what it announces first
    // of all is what it keeps. Nor may it see that a connection has ended in order, if it writes to it then.
    if announcement.state == Announcement.vanished, let former {
      if former.birth != birth, !unconfirmed.contains(topic) { return }
      if former.birth == birth, !connected.contains(topic) { return }
    }
    guard place != nil || members.count < Self.most else {
      return bus.post(EventLink.DidReject(topic: topic, reason: "the fleet has \(Self.most) members already"))
    }
    unconfirmed.remove(topic)
    let state: MemberState
    switch announcement.state {
    case Announcement.vanished: state = .vanished
    case Announcement.ended: state = .ended(status: announcement.status ?? 0)
    case let name:
      // A later version may know other states. Its connection is known all the same, and so is the will of that.
      guard let known = ApplicationState(rawValue: name) ?? former?.state.running else { return }
      state = .running(known)
    }
    if case .running = state, announcement.isLast != true { connected.insert(topic) } else { connected.remove(topic) }
    let member = Member(
      id: topic, state: state, cause: announcement.cause?.cut(toScalars: Self.longest),
      time: try? Date(announcement.time, strategy: .iso8601), birth: birth)
    guard member != former else { return }
    if let place {
      members[place] = member
    } else {
      members.insert(member, at: end)
    }
    bus.post(MemberDidChange(fleet: self, member: member, former: former), from: self)
  }

  /// The link is about to be opened; what the broker announces from now on is true now.
  func linkWillOpen() { (isCurrent, unconfirmed) = (false, Set(members.map(\.id))) }

  /// The link has been open for so long that the broker has announced what it keeps, and each process has connected again.
  ///
  /// What it has not announced again died, or was cut off, while the broker was down and could send no will.
  func linkHasBeenOpen(_ bus: EventBus) {
    for topic in unconfirmed.intersection(connected).sorted() {
      connected.remove(topic)
      let place = place(of: topic)
      guard place < members.count, members[place].id == topic else { continue }
      let former = members[place]
      (members[place].state, members[place].cause) = (.vanished, nil)
      bus.post(MemberDidChange(fleet: self, member: members[place], former: former), from: self)
    }
    unconfirmed = []
  }

  /// The place of a topic among the members, or the place where it would be inserted.
  private func place(of topic: String) -> Int {
    var (low, high) = (0, members.count)
    while low < high {
      let middle = (low + high) / 2
      if members[middle].id < topic { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
