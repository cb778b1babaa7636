internal import PubSub

/// What runs beside a resource while it is held: its run loop and its health check.
@MainActor final class HeldLease {
  let number: Int
  /// When the resource was acquired.
  let began: Duration
  /// Asks the loop to end; nil while none has begun.
  private var closing: PhaseClosing?
  /// Whether the loop runs.
  var isRunning: Bool { loop != nil }
  private var loop: Task<Void, Never>?
  private var check: Task<Void, Never>?
  /// The wait for the next run of the loop.
  private var pause: Task<Void, Never>?
  /// Whether a health check has succeeded.
  var hasPassedCheck = false
  /// Whether a health check has failed, or was too late.
  var hasFailedCheck = false
  /// How often in a row the loop ended soon after it had begun.
  var loopFailures = 0
  /// The deadline of the health check that runs.
  var checkTimer: Deadlines.ID?
  /// Whether loop and check are to end.
  private(set) var isEnding = false
  private var ended: OneShot?

  init(number: Int, began: Duration) { (self.number, self.began) = (number, began) }

  // MARK: Beginning

  /// Starts the run loop; `closing` is what asks it to end.
  func startLoop(_ start: (PhaseClosing) -> Task<Void, Never>) {
    pause = nil
    guard !isEnding else { return }
    let closing = closing ?? PhaseClosing()
    self.closing = closing
    loop = start(closing)
  }

  func startPause(_ start: () -> Task<Void, Never>) { if !isEnding { pause = start() } }

  func startCheck(_ start: () -> Task<Void, Never>) { if !isEnding { check = start() } }

  // MARK: Ending

  /// Ends loop and check.
  ///
  /// - Parameter isHurried: whether the loop is cancelled even if it listens.
  /// - Returns: whether one of them has not ended.
  func end(isHurried: Bool) -> Bool {
    isEnding = true
    cancelPause()
    check?.cancel()
    if let closing, !closing.close() || isHurried { loop?.cancel() }
    return loop != nil || check != nil
  }

  /// Returns once both have ended, or are no longer waited for.
  func whenEnded() async {
    let wait = OneShot()
    ended = wait
    _ = await wait.value
  }

  /// Cancels the loop, also one that was only asked to end.
  func cancel() {
    guard isEnding else { return }
    loop?.cancel()
  }

  /// The time is up: what still runs is cancelled, and no longer waited for.
  func abandon() {
    isEnding = true
    cancelPause()
    loop?.cancel()
    check?.cancel()
    ended?.settle(false)
  }

  /// The check that runs is too late: it is cancelled, and no other begins.
  func cancelCheck() { check?.cancel() }

  func loopDidEnd() {
    loop = nil
    settle()
  }

  func checkDidEnd() {
    check = nil
    settle()
  }

  private func cancelPause() {
    pause?.cancel()
    pause = nil
  }

  private func settle() { if loop == nil, check == nil { ended?.settle(true) } }
}
