internal import PubSub

/// Waits until nothing is being torn down any more, or the budget has passed, whichever is first.
@MainActor final class TearDownWait {
  private let deadline: Duration
  private var waiter: UnsafeContinuation<Void, Never>?

  init(deadline: Duration) { self.deadline = deadline }

  func untilTornDown(_ resources: ResourceManager, tasks: TaskStarter, clock: TransitionClock) async {
    // Synchronous handlers may have used up the budget already.
    guard clock.now() < deadline else { return }
    let timer = tasks.start { [deadline] in
      guard (try? await clock.sleepUntil(deadline)) != nil else { return }
      await self.end()
    }
    resources.whenTornDown = { self.end() }
    await withUnsafeContinuation { waiter = $0 }
    resources.whenTornDown = nil
    timer.cancel()
  }

  private func end() {
    waiter?.resume()
    waiter = nil
  }
}
