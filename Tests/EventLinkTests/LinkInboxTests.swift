import AppLifecycle
import PubSub
import Testing

@testable import EventLink

@Suite struct `A table of what was used lately` {
  @Test func `keeps at least half of its limit, and at most the limit (12)`() {
    var table = Recent<Int, Int>(limit: 4)
    for key in 2...100 {
      table[key] = key
      #expect(table[key] == key && table[key - 1] == (key == 2 ? nil : key - 1))
      #expect(table.keys.count <= 4)
    }
  }
}

@Suite struct `The inbox of links` {
  private var inbox = LinkHub.Inbox()

  init() {
    inbox.numbers = [.init(isSticky: true, most: 2), .init(isSticky: false, most: 3), .init(isSticky: false, most: 4)]
  }

  private mutating func post(on topic: Int) -> String? { name(inbox.append(on: topic) { nil }) }

  private func name(_ post: LinkHub.Post?) -> String? { post.map { "\($0.topic)#\($0.number)" } }

  @Test
  mutating func `drops the oldest post of a topic, but no latest event of a sticky type (6, 8)`() {
    var lost: [String?] = []
    for topic in [0, 1, 0, 1, 0, 1, 1, 2, 2, 1, 2] { lost.append(post(on: topic)) }
    #expect(lost.compactMap { $0 } == ["0#1", "1#1", "1#2"])
    #expect(inbox.dropped == [1: 2] && inbox.settledPosts == 0)
    let work = inbox.next()
    #expect(work?.posts.map { name($0) } == ["0#2", "1#3", "0#3", "1#4", "1#5", "2#1", "2#2", "2#3"])
    #expect(work?.dropped == [1: 2] && inbox.settledPosts == 8)
    let rest = inbox.next()
    #expect(rest == nil && !inbox.isServed)
  }

  @Test mutating func `takes the messages of one link, however many of another one wait (12)`() {
    func message(_ link: LinkMachine.LinkID) -> LinkHub.Input {
      let payload = [UInt8](repeating: 0, count: LinkMachine.longestPayload)
      let message = LinkMessage(topic: "ticks", payload: payload, quality: .atMostOnce)
      return .transport(.received(message), link, connection: 1)
    }
    let large = (0..<64).map { _ in inbox.append(message(1)) }
    #expect(large.count { $0 } == 63)
    let other = inbox.append(message(2))
    #expect(other)
    _ = inbox.next()
    // There is room again.
    let next = inbox.append(message(1))
    #expect(next)
  }

  /// The last announcement of a link that is closed must be sent before the connection ends.
  @Test mutating func `keeps the end of a link behind the posts before it, whatever is dropped (6, 13)`()
    async throws
  {
    let link = try await EventLink(of: Application(delegate: Bare()), to: MemoryBroker().transport()) { _ in }
    for topic in [1, 1, 1, 0] { _ = post(on: topic) }
    let isTaken = inbox.append(.finish(link, connection: 1))
    #expect(isTaken)
    for _ in 0..<10 { _ = post(on: 1) }
    var work = inbox.next()
    #expect(work?.inputs.count == 0 && work?.posts.map { name($0) } == ["1#11", "1#12", "1#13", "0#1"])
    work = inbox.next()
    #expect(work?.inputs.count == 1 && work?.posts.count == 0)
  }
}
