import AppLifecycle
import Foundation
import NotificationCenterBridge
import PubSub
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// Each test in a child process: a post that hangs cannot be ended in another way. The alarm ends a child that hangs.

#if !canImport(ObjectiveC)
  private final class NoDelegate: ApplicationDelegate {}

  /// The posts of an application off the first thread, where Foundation's own observers of the main queue would hang.
  @MainActor private struct Poster {
    let application = Application(delegate: NoDelegate())
    let center = NotificationCenter()
    let log = Log()

    init() {
      alarm(60)
      precondition(!Thread.isMainThread, "an asynchronous main runs the main actor on the first thread")
    }

    func observe(_ name: String, queue: OperationQueue?) -> any NSObjectProtocol {
      center.addObserver(forName: UIApplication.didBecomeActiveNotification, object: nil, queue: queue) { [log] _ in
        MainActor.assumeIsolated { log.add(name) }
      }
    }
  }

  /// Ends the process with status 3 as soon as there is a line on standard error, and passes the line on: a post that hangs never returns.
  private func endProcessWithFirstMessage() {
    let (messages, standardError) = (Pipe(), dup(2))
    dup2(messages.fileHandleForWriting.fileDescriptor, 2)
    Thread.detachNewThread {
      var message = Data()
      while !message.contains(UInt8(ascii: "\n")) { message += messages.fileHandleForReading.availableData }
      FileHandle(fileDescriptor: standardError).write(message)
      _exit(3)
    }
  }

  @Suite struct `An observer with the main queue` {
    @Test func `is called in the post of the main actor, on whichever thread that is`() async {
      await #expect(processExitsWith: .success) {
        await Task { @MainActor in
          let poster = Poster()
          let link = NotificationCenterBridge(poster.application.bus, to: poster.center).postLifecycle()
          let observers = [
            poster.observe("main", queue: .main), poster.observe("none", queue: nil),
            poster.observe("main again", queue: OperationQueue.main),
          ]
          await poster.application.handle(.launch)
          precondition(Set(poster.log.all) == ["main", "none", "main again"], "\(poster.log.all)")
          for observer in observers { poster.center.removeObserver(observer) }
          poster.center.post(name: UIApplication.didBecomeActiveNotification, object: nil)
          precondition(poster.log.all.count == 3, "an observer was called after it was removed")
          withExtendedLifetime(link) {}
        }
        .value
      }
    }

    @Test
    func `is called in a post of the main actor that waits for another queue, and so is a handler of an event`() async {
      await #expect(processExitsWith: .success) {
        await Task { @MainActor in
          let poster = Poster()
          let (bus, center) = (poster.application.bus, poster.center)
          let link = NotificationCenterBridge(bus, to: center).receive(ShopOpened.self)
          var subscriptions: Set<EventBus.Subscription> = []
          bus.subscribe(to: ShopOpened.self) { [log = poster.log] _ in log.add("event") }.store(in: &subscriptions)
          let observer = poster.observe("observed", queue: .main)
          DispatchQueue(label: "another").sync {
            center.post(name: UIApplication.didBecomeActiveNotification, object: nil)
            center.post(name: ShopOpened.notificationName, object: Shop())
          }
          precondition(poster.log.all == ["observed", "event"], "\(poster.log.all)")
          withExtendedLifetime((link, observer, subscriptions)) {}
        }
        .value
      }
    }

    @Test func `is called on the main queue for a post of another thread, which waits for it`() async {
      await #expect(processExitsWith: .success) {
        let (center, log) = await MainActor.run { [poster = Poster()] in
          _ = poster.observe("observed", queue: .main)
          return (poster.center, poster.log)
        }
        let post = Task { @concurrent in
          center.post(name: UIApplication.didBecomeActiveNotification, object: nil)
          log.add("posted")
        }
        await post.value
        precondition(log.all == ["observed", "posted"], "\(log.all)")
      }
    }

    @Test func `that Foundation's method has added is reported before the program hangs`() async throws {
      let result = await #expect(processExitsWith: .exitCode(3), observing: [\.standardErrorContent]) {
        endProcessWithFirstMessage()
        await Task { @MainActor in
          let poster = Poster()
          let name: Notification.Name? = UIApplication.didBecomeActiveNotification
          let observer = poster.center.addObserver(forName: name, object: nil, queue: .main) { _ in }
          let link = NotificationCenterBridge(poster.application.bus, to: poster.center).postLifecycle()
          await poster.application.handle(.launch)
          withExtendedLifetime((link, observer)) {}
        }
        .value
      }
      let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
      for part in ["UIApplicationDidBecomeActiveNotification", "queue .main", "Import NotificationCenterBridge"] {
        #expect(message.contains(part), "\(message)")
      }
    }

    @Test func `is reported, too, if the post hangs after another post was nested in it`() async throws {
      let result = await #expect(processExitsWith: .exitCode(3), observing: [\.standardErrorContent]) {
        endProcessWithFirstMessage()
        await Task { @MainActor in
          alarm(20)
          let (bus, center) = (EventBus(), NotificationCenter())
          let bridge = NotificationCenterBridge(bus, to: center)
          let links = [bridge.post(OrderPlaced.self), bridge.post(ShopOpened.self)]
          let observer = center.addObserver(forName: ShopOpened.notificationName, object: nil, queue: nil) { _ in
            bus.post(OrderPlaced(id: 1))
            // What Foundation does for an observer with the queue .main.
            OperationQueue.main.addOperation {}
            OperationQueue.main.waitUntilAllOperationsAreFinished()
          }
          bus.post(ShopOpened(shop: Shop()))
          withExtendedLifetime((links, observer)) {}
        }
        .value
      }
      let message = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
      #expect(message.contains(ShopOpened.notificationName.rawValue), "\(message)")
    }

    /// Of the queue another operation waits for the main queue, which waits for the post.
    @Test func `on any other queue runs there, and the post waits for it alone`() async {
      await #expect(processExitsWith: .success) {
        alarm(60)
        await MainActor.run {
          let poster = Poster()
          let queue = OperationQueue()
          let name = UIApplication.didBecomeActiveNotification
          let observer = poster.center.addObserver(forName: name, object: nil, queue: queue) { [log = poster.log] _ in
            log.add("\(OperationQueue.current === queue)")
          }
          queue.addOperation { DispatchQueue.main.sync {} }
          poster.center.post(name: name, object: nil)
          precondition(poster.log.all == ["true"], "\(poster.log.all)")
          withExtendedLifetime(observer) {}
        }
      }
    }

    @Test func `on its queue is called at once by a post of the queue`() async {
      await #expect(processExitsWith: .success) {
        alarm(60)
        await MainActor.run {
          let (center, queue, name, log) = (NotificationCenter(), OperationQueue(), Notification.Name("a"), Log())
          queue.maxConcurrentOperationCount = 1
          let observer = center.addObserver(forName: name, object: nil, queue: queue) { _ in log.add("called") }
          let operation = BlockOperation { center.post(name: name, object: nil) }
          queue.addOperations([operation], waitUntilFinished: true)
          precondition(log.all == ["called"], "\(log.all)")
          withExtendedLifetime(observer) {}
        }
      }
    }
  }
#endif
