import Foundation
import NotificationCenterBridge
import PubSub
import Synchronization
import Testing

/// Facts about Foundation's notification centers, which hold with and without a bridge.
///
/// Foundation fixes no order among the observers of one post. Where several log the same post, the log is compared sorted.
@Suite struct `A classic center, alone and bridged` {
  // MARK: Names, objects and values

  @Test(arguments: StageKind.allCases)
  func `calls an observer with the name, the object and the values of a post`(_ kind: StageKind) {
    let (north, part) = (Sender("north"), Sender("part"))
    let lines = play(kind) { stage in
      stage.observe("a", .ordered, of: north) { stage, notification in
        stage.log.add("\(notification.name.rawValue) \(notification.object as? Sender === north)")
        let foundPart = try? notification.value(for: .part)
        stage.log.add("\((try? notification.value(for: .numbers)) ?? []) \(foundPart === part)")
      }
      var info = NotificationInfo(.numbers, [3, 1, 2])
      info[.part] = part
      stage.post(.ordered, "x", from: north, info)
    }
    #expect(lines == ["a: x", "Ordered true", "[3, 1, 2] true"])
  }

  @Test(arguments: StageKind.allCases)
  func `has no object and no further values where the post has none`(_ kind: StageKind) {
    let lines = play(kind) { stage in
      stage.observe("a", .ordered) { stage, notification in
        stage.log.add("object: \(notification.object != nil), part: \(notification.userInfo?["part"] != nil)")
      }
      stage.post(.ordered, "x")
    }
    #expect(lines == ["a: x", "object: false, part: false"])
  }

  @Test(arguments: StageKind.allCases)
  func `calls the observer of an object for that object alone`(_ kind: StageKind) {
    let (north, twin, south) = (Sender("north"), Sender("north"), Sender("south"))
    let lines = play(kind) { stage in
      stage.observe("north", .ordered, of: north)
      stage.post(.ordered, "1", from: south)
      stage.post(.ordered, "2")
      // Equal to the observed object, and another one.
      stage.post(.ordered, "3", from: twin)
      stage.post(.ordered, "4", from: north)
      stage.post(.paid, "5", from: north)
    }
    #expect(lines == ["north: 4"])
  }

  @Test(arguments: StageKind.allCases)
  func `calls an observer without a name for every name`(_ kind: StageKind) {
    let lines = play(kind) { stage in
      stage.observe("any", nil)
      stage.post(.ordered, "1")
      stage.post(.paid, "2", from: Sender("north"))
      stage.remove("any")
      stage.post(.ordered, "3")
    }
    #expect(lines == ["any: 1", "any: 2"])
  }

  @Test(arguments: StageKind.allCases)
  func `calls each observer for the posts that fit its name and its object`(_ kind: StageKind) {
    let (names, senders) = ([nil, Topic.ordered, .paid], [nil, Sender("north"), Sender("south")])
    var expected: [String] = []
    let lines = play(kind) { stage in
      for name in names {
        for sender in senders {
          stage.observe(Self.label(name, sender), name, of: sender)
        }
      }
      for topic in Topic.allCases {
        for sender in senders {
          let text = Self.label(topic, sender)
          stage.post(topic, text, from: sender)
          let names = Set([nil, topic])
          for name in names {
            for observed in Set([nil, sender]) { expected.append("\(Self.label(name, observed)): \(text)") }
          }
        }
      }
    }
    #expect(lines.sorted() == expected.sorted())
  }

  private static func label(_ topic: Topic?, _ sender: Sender?) -> String {
    "\(topic.map { "\($0)" } ?? "any") of \(sender?.name ?? "any")"
  }

  @Test(arguments: StageKind.allCases)
  func `calls one observer in the order of the posts`(_ kind: StageKind) {
    let lines = play(kind) { stage in
      stage.observe("a", nil)
      for number in 0..<100 { stage.post(number.isMultiple(of: 3) ? .paid : .ordered, "\(number)") }
    }
    #expect(lines == (0..<100).map { "a: \($0)" })
  }

  @Test(arguments: StageKind.allCases)
  func `keeps no post for an observer that comes later`(_ kind: StageKind) {
    let lines = play(kind) { stage in
      stage.post(.ordered, "1")
      stage.observe("a", .ordered)
      stage.post(.ordered, "2")
    }
    #expect(lines == ["a: 2"])
  }

  @Test func `is the default one unless a bridge is made with another`() {
    #expect(NotificationCenter.default === NotificationCenter.default)
    #expect(NotificationCenterBridge(EventBus()).notificationCenter === NotificationCenter.default)
    // One after another: the stages share the default center.
    for kind in StageKind.allCases {
      let lines = play(kind, at: .default) { stage in
        stage.observe("a", .ordered)
        stage.post(.ordered, "x")
      }
      #expect(lines == ["a: x"], "\(kind)")
    }
  }

  // MARK: Observers that come and go

  @Test(arguments: StageKind.allCases)
  func `calls all observers of a post except a removed one`(_ kind: StageKind) {
    let lines = play(kind) { stage in
      for label in ["a", "b", "c"] { stage.observe(label, .ordered) }
      stage.remove("b")
      stage.post(.ordered, "1")
      stage.remove("b")
      stage.remove("c")
      stage.post(.ordered, "2")
    }
    #expect(lines.sorted() == ["a: 1", "a: 2", "c: 1"])
  }

  @Test(arguments: StageKind.allCases)
  func `makes a token for each observer, also for one block`(_ kind: StageKind) {
    let count = Mutex(0)
    _ = play(kind) { stage in
      let block: @Sendable (Notification) -> Void = { _ in count.withLock { $0 += 1 } }
      let tokens = (0..<3).map { _ in
        stage.center.addObserver(forName: Ordered.notificationName, object: nil, queue: nil, using: block)
      }
      #expect(Set(tokens.map(ObjectIdentifier.init)).count == 3)
      stage.post(.ordered, "1")
      #expect(count.withLock { $0 } == 3)
      stage.center.removeObserver(tokens[1])
      stage.post(.ordered, "2")
      #expect(count.withLock { $0 } == 5)
      for token in tokens { stage.center.removeObserver(token) }
      stage.post(.ordered, "3")
    }
    #expect(count.withLock { $0 } == 5)
  }

  @Test(arguments: StageKind.allCases)
  func `removes an observer only for the name and object that it observes`(_ kind: StageKind) {
    let (north, south) = (Sender("north"), Sender("south"))
    let lines = play(kind) { stage in
      stage.observe("a", .ordered, of: north)
      stage.remove("a", .paid, of: north)
      stage.post(.ordered, "1", from: north)
      stage.remove("a", .ordered, of: south)
      stage.post(.ordered, "2", from: north)
      stage.remove("a", .ordered, of: north)
      stage.post(.ordered, "3", from: north)
    }
    #expect(lines == ["a: 1", "a: 2"])
  }

  @Test(arguments: StageKind.allCases)
  func `removes the observers of several names one by one`(_ kind: StageKind) {
    let lines = play(kind) { stage in
      stage.observe("a", .ordered)
      stage.observe("b", .paid)
      for text in ["1", "2"] {
        stage.post(.ordered, text)
        stage.post(.paid, text)
        stage.remove("a")
      }
    }
    #expect(lines == ["a: 1", "b: 1", "b: 2"])
  }

  @Test(arguments: StageKind.allCases)
  func `calls an observer that removes itself once`(_ kind: StageKind) {
    let lines = play(kind) { stage in
      stage.observe("once", .ordered) { stage, _ in stage.remove("once") }
      stage.observe("always", .ordered)
      stage.post(.ordered, "1")
      stage.post(.ordered, "2")
    }
    #expect(lines.sorted() == ["always: 1", "always: 2", "once: 1"])
  }

  @Test(arguments: StageKind.allCases)
  func `calls no observer again that another one removed`(_ kind: StageKind) {
    func scenario(_ stage: Stage) {
      stage.observe("a", .ordered) { stage, _ in stage.remove("b") }
      stage.observe("b", .ordered) { stage, _ in stage.remove("a") }
      for text in ["1", "2", "3"] { stage.post(.ordered, text) }
    }
    // Foundation may call both for the first post, or one alone for all posts: a center without a bridge decides that.
    func texts(_ kind: StageKind) -> [Substring] { play(kind, scenario).map { $0.suffix(1) }.sorted() }
    #expect([["1", "1"], ["1", "2", "3"]].contains(texts(kind)))
    #expect(texts(kind) == texts(.plain))
  }

  @Test(arguments: StageKind.allCases)
  func `does not call an observer for the post in which it was added`(_ kind: StageKind) {
    let lines = play(kind) { stage in
      stage.observe("a", .ordered) { stage, notification in
        let text = (try? notification.value(for: .text)) ?? "-"
        stage.observe("added in \(text)", .ordered)
      }
      stage.post(.ordered, "1")
      stage.post(.ordered, "2")
    }
    #expect(lines.sorted() == ["a: 1", "a: 2", "added in 1: 2"])
  }

  @Test(arguments: StageKind.allCases)
  func `does not keep what a post carried, nor the block of a removed observer`(_ kind: StageKind) {
    weak var formerSender: Sender?
    weak var formerPart: Sender?
    weak var formerCapture: Sender?
    let lines = play(kind) { stage in
      do {
        let (sender, part, capture) = (Sender("north"), Sender("part"), Sender("capture"))
        (formerSender, formerPart, formerCapture) = (sender, part, capture)
        let token = stage.center.addObserver(forName: Ordered.notificationName, object: nil, queue: nil) {
          [log = stage.log] _ in log.add(capture.name)
        }
        stage.post(.ordered, "x", from: sender, NotificationInfo(.part, part))
        stage.center.removeObserver(token)
      }
      // The stage still stands.
      #expect(formerSender == nil && formerPart == nil && formerCapture == nil)
    }
    #expect(lines == ["capture"])
  }
}
