// On Apple's systems Foundation calls an observer with the queue `.main` at once in a post on the main thread.
#if !canImport(ObjectiveC)
  import AppLifecycle
  import Dispatch
  import Foundation
  internal import Scheduling

  /// Reports a post on the main queue that waits for the main queue, and so never returns.
  ///
  /// That happens off the first thread, where Foundation's post waits for each observer with the queue `.main`. No public
  /// interface tells of such an observer before the post. So a timer looks once a second, while there are posts, whether the
  /// same post is still under way and work waits on the main queue.
  final class PostWatch: Sendable {
    private struct State {
      /// The posts under way on the main queue, each within the one before it.
      var posts: [(number: Int, name: Notification.Name)] = []
      var lastNumber = 0
      /// The number of the latest post at the last look.
      var lastSeen = 0
      /// The number of the innermost post that was under way at the last look.
      var innermostSeen: Int?
      var isLooking = false
      /// The number of the post that was reported, so that each is reported once.
      var reported: Int?
    }

    static let shared = PostWatch()

    private let state = Guarded(State())

    /// Runs a post, and reports it if it never returns.
    static func watch(_ name: Notification.Name, _ post: () -> Void) {
      // On the first thread Foundation calls the observers at once; off the main queue the wait ends.
      guard !Thread.isMainThread, MainQueue.isMainActors else { return post() }
      shared.begin(name)
      defer { shared.end() }
      post()
    }

    private func begin(_ name: Notification.Name) {
      let mustLook = state.withLock { state in
        state.lastNumber += 1
        state.posts.append((state.lastNumber, name))
        defer { state.isLooking = true }
        return !state.isLooking
      }
      if mustLook { lookLater() }
    }

    private func end() { state.withLock { _ = $0.posts.removeLast() } }

    private func lookLater() { DispatchQueue.global().asyncAfter(deadline: .now() + 1) { self.look() } }

    private func look() {
      let waits = OperationQueue.main.operationCount > 0
      let (stuck, goesOn) = state.withLock { state -> (Notification.Name?, Bool) in
        let innermost = state.posts.last?.number
        defer { (state.lastSeen, state.innermostSeen) = (state.lastNumber, innermost) }
        // No post has begun or ended since the last look, so the innermost one has not returned for a second.
        let isUnchanged = innermost == state.innermostSeen && state.lastNumber == state.lastSeen
        let isStuck = waits && isUnchanged && innermost != nil && innermost != state.reported
        if isStuck { state.reported = innermost }
        state.isLooking = !state.posts.isEmpty || state.lastNumber != state.lastSeen
        return (isStuck ? state.posts.last?.name : nil, state.isLooking)
      }
      // Without `contentsOf`, an error of the call ends the process: standard error may be closed, or full.
      if let stuck { try? FileHandle.standardError.write(contentsOf: Data(Self.message(stuck).utf8)) }
      if goesOn { lookLater() }
    }

    private static func message(_ name: Notification.Name) -> String {
      """
      NotificationCenterBridge: the post of \(name.rawValue) has not returned for a second, and work waits for the main queue. If \
      an observer of it has the queue .main, the post never returns: Foundation waits in the post for the main queue, which waits \
      for the post. Import NotificationCenterBridge in the file that adds the observer, or add it with the queue nil.

      """
    }
  }
#endif
