internal import Scheduling

/// The run loop and the health check of a resource while it is held.
@MainActor final class HeldLease {
  let number: Int
  /// The time when the resource was acquired, by the clock that stands still while the process does.
  let began: Duration
  /// The request to end to the present run of the loop; nil before a loop has begun.
  private var closing: PhaseClosing?
  /// Those to earlier runs, as long as code that these have left may still listen to them.
  private var earlier: [WeakClosing] = []
  /// Whether the lease is that of a body which has its only run while its phase closes.
  private(set) var isAskedAtOnce = false
  /// Whether the loop runs.
  var isRunning: Bool { loop != nil }
  private var loop: Task<Void, Never>?
  private var check: Task<Void, Never>?
  /// The wait for the next run of the loop.
  private var pause: Task<Void, Never>?
  /// Whether a health check runs now; between two checks, its task only sleeps.
  private var isChecking = false
  /// Whether a health check has succeeded.
  var hasPassedCheck = false
  /// Whether a health check has failed or was late.
  var hasFailedCheck = false
  /// The number of times in a row that the loop ended soon after it had begun.
  var loopFailures = 0
  /// The error with which a body ended after it had been asked to end.
  var errorOfEnd: String?
  /// The deadline of the running health check.
  var checkTimer: Deadlines.ID?
  /// The deadline for becoming ready.
  var readinessTimer: Deadlines.ID?
  /// Whether the loop and the check must end.
  private(set) var isEnding = false
  private var ended: OneShot<Bool>?

  private struct WeakClosing { weak var closing: PhaseClosing? }

  init(number: Int, began: Duration) { (self.number, self.began) = (number, began) }

  // MARK: Beginning

  /// Starts the run loop; `closing` is the request to end that it may receive.
  func startLoop(_ start: (PhaseClosing) -> Task<Void, Never>) {
    pause = nil
    guard !isEnding else { return }
    earlier.removeAll { $0.closing == nil }
    if let closing { earlier.append(WeakClosing(closing: closing)) }
    let closing = PhaseClosing()
    self.closing = closing
    loop = start(closing)
  }

  /// Asks the body to end before it begins.
  func askAtOnce() {
    isAskedAtOnce = true
    _ = closing?.close()
  }

  func startPause(_ start: () -> Task<Void, Never>) { if !isEnding { pause = start() } }

  func startChecks(_ start: () -> Task<Void, Never>) { if !isEnding { check = start() } }

  func checkBegins() { isChecking = true }

  // MARK: Ending

  /// Ends loop and check.
  ///
  /// - Parameter isHurried: whether the loop is cancelled even if it has a listener.
  /// - Returns: whether the loop or a check still runs.
  func end(isHurried: Bool) -> Bool {
    isEnding = true
    cancelPause()
    check?.cancel()
    // Code that earlier runs have left does not keep this one from being cancelled.
    for run in earlier { _ = run.closing?.close() }
    if let closing, !closing.close() || isHurried { loop?.cancel() }
    return loop != nil || isChecking
  }

  /// Waits until both have ended or were abandoned.
  func whenEnded() async {
    guard loop != nil || isChecking else { return }
    let wait = OneShot<Bool>()
    ended = wait
    _ = await wait.value
  }

  /// Cancels the loop, even if it was only asked to end before.
  func cancel() {
    guard isEnding else { return }
    loop?.cancel()
  }

  /// Cancels the loop and the check, and ends the wait for them, because the budget has passed.
  func abandon() {
    isEnding = true
    cancelPause()
    loop?.cancel()
    check?.cancel()
    ended?.settle(false)
  }

  /// Cancels a late check; no other check begins.
  func cancelCheck() { check?.cancel() }

  func loopDidEnd() {
    loop = nil
    settle()
  }

  func checkDidEnd() {
    isChecking = false
    settle()
  }

  private func cancelPause() {
    pause?.cancel()
    pause = nil
  }

  private func settle() { if loop == nil, !isChecking { ended?.settle(true) } }
}
