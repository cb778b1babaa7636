import AppLifecycle
import Dispatch
import PubSub

/// Counts for how long the program has been in front.
///
/// It pauses whenever the program is not active, and so does its ticking: nothing wakes the machine for a screen that shows no
/// clock.
@MainActor final class SessionTimer {
  struct DidTick: MainActorEvent { let elapsed: Duration }

  private var stopwatch = Stopwatch()
  private var ticking: (any DispatchSourceTimer)?
  private let now: @MainActor () -> Duration
  private let bus: EventBus

  /// - Parameters:
  ///   - application: the application whose time in front is counted.
  ///   - clock: the time that is counted.
  ///   - ticks: whether each second is posted, for a screen that shows it; in real time.
  init(application: Application, clock: some Clock<Duration>, ticks: Bool) {
    let origin = clock.now
    now = { origin.duration(to: clock.now) }
    bus = application.bus
    bus.subscribe(self, to: Application.DidBecomeActive.self) { timer, _ in
      timer.stopwatch.start(at: timer.now())
      if ticks { timer.startTicking() }
    }
    bus.subscribe(self, to: Application.WillResignActive.self) { timer, _ in
      timer.stopTicking()
      timer.stopwatch.stop(at: timer.now())
      timer.tell()
    }
  }

  isolated deinit { stopTicking() }

  var elapsed: Duration { stopwatch.elapsed(at: now()) }

  /// Posts each second of what is shown, soon after it has begun.
  ///
  /// A timer of libdispatch's on the main queue wakes two threads for each tick, once; a loop around `Task.sleep` wakes four,
  /// eight times in all. The system may put off a tick by the leeway, to wake up for several timers at once.
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
