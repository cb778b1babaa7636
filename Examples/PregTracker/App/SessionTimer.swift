import AppLifecycle
import Dispatch
import PubSub

/// Counts how long the program has been active.
///
/// It pauses whenever the program is not active, and then posts no ticks: nothing wakes the machine for a screen that shows no
/// clock.
@MainActor final class SessionTimer {
  struct DidTick: MainActorEvent { let elapsed: Duration }

  private var stopwatch = Stopwatch()
  private var ticking: (any DispatchSourceTimer)?
  private let now: @MainActor () -> Duration
  private let bus: EventBus

  /// - Parameters:
  ///   - application: the application whose active time is counted.
  ///   - clock: measures the time.
  ///   - ticks: whether to post each second, in real time, for a screen that shows it.
  init(application: Application, clock: some Clock<Duration>, ticks: Bool) {
    let origin = clock.now
    now = { origin.duration(to: clock.now) }
    bus = application.bus
    bus.subscribe(to: Application.DidBecomeActive.self, for: self) { timer, _ in
      timer.stopwatch.start(at: timer.now())
      if ticks { timer.startTicking() }
    }
    bus.subscribe(to: Application.WillResignActive.self, for: self) { timer, _ in
      timer.stopTicking()
      timer.stopwatch.stop(at: timer.now())
      timer.tell()
    }
  }

  isolated deinit { stopTicking() }

  var elapsed: Duration { stopwatch.elapsed(at: now()) }

  /// Posts a tick for each second, soon after the second has begun.
  ///
  /// A libdispatch timer on the main queue wakes two threads once for each tick; a loop around `Task.sleep` wakes four threads,
  /// eight times in all. The system may delay a tick by the leeway, to wake up for several timers at once.
  private func startTicking() {
    stopTicking()
    let fraction = Duration(secondsComponent: 0, attosecondsComponent: elapsed.components.attoseconds)
    let timer = DispatchSource.makeTimerSource(queue: .main)
    timer.schedule(
      deadline: .now() + .nanoseconds(Int((.seconds(1) - fraction) / .nanoseconds(1)) + 1_000_000),
      repeating: .seconds(1), leeway: .milliseconds(100))
    timer.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.tell() } }
    timer.activate()
    ticking = timer
    tell()
  }

  private func stopTicking() {
    ticking?.cancel()
    ticking = nil
  }

  private func tell() { bus.post(DidTick(elapsed: elapsed), from: self) }
}
