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
  @Test func `drops the oldest post, but no latest event of a sticky type (6, 8)`() {
    var inbox = LinkHub.Inbox()
    inbox.numbers = [.init(isSticky: true), .init(isSticky: false)]
    func post(on topic: Int) {
      inbox.numbers[topic].event += 1
      inbox.posts.append(LinkHub.Post(topic: topic, number: inbox.numbers[topic].event) { nil })
    }
    func drop() -> String? { inbox.dropOldest().map { "\($0.topic)#\($0.number)" } }
    for topic in [0, 0, 1, 1] { post(on: topic) }
    #expect([drop(), drop(), drop(), drop()] == ["0#1", "1#1", "1#2", nil])
    #expect(inbox.dropped == [1: 2] && inbox.settledPosts == 3)
    #expect(inbox.posts.count == 1 && inbox.posts.first?.number == 2)
  }
}
