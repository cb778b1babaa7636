import Foundation
import NotificationCenterBridge
import PubSub
import Testing

/// Posts inside observers, on operation queues and on threads, with and without a bridge.
///
/// Serialized: side by side they would use all threads of Dispatch, which starts a further one only after a second.
@Suite(.serialized) struct `A classic center, alone and bridged, under way` {
  // MARK: Posts inside observers

  @Test(arguments: StageKind.allCases)
  func `ends a post that an observer makes before the observer ends`(_ kind: StageKind) {
    let lines = play(kind) { stage in
      stage.observe("outer", .ordered) { stage, _ in
        stage.post(.paid, "2")
        stage.log.add("outer ends")
      }
      stage.observe("inner", .paid)
      stage.post(.ordered, "1")
      stage.log.add("the post ends")
    }
    #expect(lines == ["outer: 1", "inner: 2", "outer ends", "the post ends"])
  }

  @Test(arguments: StageKind.allCases)
  func `nests the posts of one name`(_ kind: StageKind) {
    let lines = play(kind) { stage in
      stage.observe("a", .ordered) { stage, notification in
        let number = Int((try? notification.value(for: .text)) ?? "") ?? 0
        if number > 1 { stage.post(.ordered, "\(number - 1)") }
        stage.log.add("a ends \(number)")
      }
      stage.post(.ordered, "4")
    }
    #expect(lines == ["a: 4", "a: 3", "a: 2", "a: 1", "a ends 1", "a ends 2", "a ends 3", "a ends 4"])
  }

  @Test(arguments: StageKind.allCases)
  func `calls each observer once for each of the posts that several observers make`(_ kind: StageKind) {
    let lines = play(kind) { stage in
      for label in ["a", "b"] {
        stage.observe(label, .ordered) { stage, _ in stage.post(.paid, "by \(label)") }
        stage.observe("\(label) paid", .paid)
      }
      stage.post(.ordered, "1")
    }
    #expect(
      lines.sorted() == ["a paid: by a", "a paid: by b", "a: 1", "b paid: by a", "b paid: by b", "b: 1"])
  }

  @Test(arguments: StageKind.allCases)
  func `passes an object to an observer of it that is added and posted to inside another`(_ kind: StageKind) {
    let (north, south) = (Sender("north"), Sender("south"))
    let lines = play(kind) { stage in
      stage.observe("a", .ordered, of: north) { stage, _ in
        stage.observe("b", .paid, of: south)
        stage.post(.paid, "2", from: north)
        stage.post(.paid, "3", from: south)
        stage.remove("b")
        stage.post(.paid, "4", from: south)
      }
      stage.post(.ordered, "1", from: north)
    }
    #expect(lines == ["a: 1", "b: 3"])
  }

  // MARK: Operation queues

  @Test(arguments: StageKind.allCases)
  func `calls an observer without a queue on the thread of the post`(_ kind: StageKind) async {
    let queue = OperationQueue()
    let lines = await playOnThread(kind) { stage in
      queue.addOperation {
        let thread = ObjectIdentifier(Thread.current)
        stage.observe("a", .ordered) { stage, _ in
          let isSameThread = ObjectIdentifier(Thread.current) == thread
          stage.log.add("same thread: \(isSameThread), same queue: \(OperationQueue.current === queue)")
        }
        stage.post(.ordered, "x")
      }
      queue.waitUntilAllOperationsAreFinished()
    }
    #expect(lines == ["a: x", "same thread: true, same queue: true"])
  }

  @Test(arguments: StageKind.allCases)
  func `calls an observer with a queue on that queue, and the post waits for it`(_ kind: StageKind) async {
    let queue = OperationQueue()
    let lines = await playOnThread(kind) { stage in
      stage.observe("a", .ordered, on: queue) { stage, _ in
        stage.log.add("on its queue: \(OperationQueue.current === queue)")
        stage.post(.paid, "2")
        stage.log.add("a ends")
      }
      stage.observe("b", .paid)
      stage.post(.ordered, "1")
      stage.log.add("the post ends")
    }
    #expect(lines == ["a: 1", "on its queue: true", "b: 2", "a ends", "the post ends"])
  }

  @Test(arguments: StageKind.allCases)
  func `calls an observer inside the post if the post comes from its queue`(_ kind: StageKind) async {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let lines = await playOnThread(kind) { stage in
      stage.observe("a", .ordered, on: queue) { stage, _ in
        stage.log.add("on its queue: \(OperationQueue.current === queue)")
      }
      queue.addOperation {
        stage.post(.ordered, "1")
        stage.log.add("the post ends")
      }
      queue.waitUntilAllOperationsAreFinished()
    }
    #expect(lines == ["a: 1", "on its queue: true", "the post ends"])
  }

  @Test(arguments: StageKind.allCases)
  func `calls each observer on its own queue if the post comes from another`(_ kind: StageKind) async {
    let (poster, first, second) = (OperationQueue(), OperationQueue(), OperationQueue())
    let lines = await playOnThread(kind) { stage in
      for (label, queue) in [("first", first), ("second", second), ("none", nil)] {
        let expected = queue ?? poster
        stage.observe(label, .ordered, on: queue) { stage, _ in
          stage.log.add("\(label) on its queue: \(OperationQueue.current === expected)")
        }
      }
      poster.addOperation {
        stage.post(.ordered, "x")
        stage.log.add("the post ends")
      }
      poster.waitUntilAllOperationsAreFinished()
    }
    #expect(lines.last == "the post ends")
    #expect(
      lines.dropLast().sorted() == [
        "first on its queue: true", "first: x", "none on its queue: true", "none: x", "second on its queue: true",
        "second: x",
      ])
  }

  @Test(arguments: StageKind.allCases)
  func `calls an observer with the main queue on the main queue, and the post waits for it`(_ kind: StageKind) async {
    let lines = await playOnThread(kind) { stage in
      stage.observe("a", .ordered, on: .main) { stage, _ in
        stage.log.add("on the main queue: \(OperationQueue.current === OperationQueue.main)")
      }
      stage.post(.ordered, "x")
      stage.log.add("the post ends")
    }
    #expect(lines == ["a: x", "on the main queue: true", "the post ends"])
  }

  // MARK: Notification queues

  private static func notification(_ text: String) -> Notification {
    Notification(name: Ordered.notificationName, object: nil, userInfo: ["text": text])
  }

  @Test(arguments: StageKind.withNotifications)
  func `is given a notification at once by a notification queue that posts now`(_ kind: StageKind) async {
    let lines = await playOnThread(kind) { stage in
      let queue = NotificationQueue(notificationCenter: stage.entry)
      stage.observe("a", .ordered)
      for text in ["1", "2"] {
        stage.willPost(.ordered, text)
        queue.enqueue(Self.notification(text), postingStyle: .now)
        stage.log.add("enqueued")
      }
    }
    #expect(lines == ["a: 1", "enqueued", "a: 2", "enqueued"])
  }

  @Test(arguments: StageKind.withNotifications)
  func `is given the last of several notifications by a notification queue that unites them`(_ kind: StageKind) async {
    let lines = await playOnThread(kind) { stage in
      let queue = NotificationQueue(notificationCenter: stage.entry)
      stage.observe("a", .ordered)
      stage.willPost(.ordered, "3")
      for text in ["1", "2", "3"] {
        queue.enqueue(Self.notification(text), postingStyle: .asap, coalesceMask: .onName, forModes: [.default])
      }
      stage.log.add("enqueued")
      // A run loop without a timer would not run.
      RunLoop.current.add(Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }, forMode: .default)
      _ = RunLoop.current.run(mode: .default, before: .distantPast)
    }
    #expect(lines == ["enqueued", "a: 3"])
  }

  // MARK: Threads

  private static func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for number in 0..<count {
      group.enter()
      Thread.detachNewThread {
        body(number)
        group.leave()
      }
    }
    group.wait()
  }

  @Test(arguments: StageKind.allCases)
  func `passes all posts of all threads, those of one thread in order`(_ kind: StageKind) async {
    let lines = await playOnThread(kind) { stage in
      for label in ["a", "b"] { stage.observe(label, .ordered) }
      Self.onThreads(4) { thread in
        for number in 0..<50 { stage.post(.ordered, "\(thread).\(number)") }
      }
    }
    for label in ["a", "b"] {
      for thread in 0..<4 {
        let prefix = "\(label): \(thread)."
        #expect(lines.filter { $0.hasPrefix(prefix) } == (0..<50).map { "\(prefix)\($0)" })
      }
    }
    #expect(lines.count == 2 * 4 * 50)
  }

  @Test(arguments: StageKind.allCases)
  func `loses no post while other threads add and remove observers`(_ kind: StageKind) async {
    let senders = (0..<4).map { Sender("\($0)") }
    let lines = await playOnThread(kind) { stage in
      stage.observe("always", .ordered)
      Self.onThreads(4) { thread in
        for number in 0..<50 {
          // Its thread alone posts from its sender.
          let label = "\(thread).\(number)"
          stage.observe(label, nil, of: senders[thread])
          stage.post(.ordered, label, from: senders[thread])
          stage.remove(label)
        }
      }
    }
    let labels = (0..<4).flatMap { thread in (0..<50).map { "\(thread).\($0)" } }
    #expect(lines.sorted() == labels.flatMap { ["always: \($0)", "\($0): \($0)"] }.sorted())
  }

  @Test(arguments: StageKind.allCases)
  func `nests the posts of each thread in those of that thread alone`(_ kind: StageKind) async {
    let lines = await playOnThread(kind) { stage in
      stage.observe("outer", .ordered) { stage, notification in
        let text = (try? notification.value(for: .text)) ?? "-"
        stage.post(.paid, text)
        stage.log.add("ends: \(text)")
      }
      stage.observe("inner", .paid)
      Self.onThreads(4) { thread in
        for number in 0..<50 { stage.post(.ordered, "\(thread).\(number)") }
      }
    }
    for thread in 0..<4 {
      let expected = (0..<50).flatMap { number in
        ["outer", "inner", "ends"].map { "\($0): \(thread).\(number)" }
      }
      #expect(lines.filter { $0.contains(": \(thread).") } == expected)
    }
    #expect(lines.count == 3 * 4 * 50)
  }
}
