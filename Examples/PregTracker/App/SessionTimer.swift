import AppLifecycle
import PubSub

/// Counts for how long the program has been in front.
///
/// It pauses whenever the program is not active, and so does its ticking:
/// nothing wakes the machine for a screen that nobody sees.
@MainActor final class SessionTimer {
  struct DidTick: MainActorEvent { let elapsed: Duration }

  private var stopwatch = Stopwatch()
  private var ticking: Task<Void, Never>?
  private let now: @MainActor () -> Duration
  private let bus: EventBus

  /// With `ticks`, somebody looks, and each second is told.
  init(application: Application, clock: some Clock<Duration>, ticks: Bool) {
    let origin = clock.now
    now = { origin.duration(to: clock.now) }
    bus = application.bus
    bus.subscribe(self, to: Application.DidBecomeActive.self) { timer, _ in
      timer.stopwatch.start(at: timer.now())
      if ticks { timer.ticking = Task { [weak timer] in await timer?.tick(clock) } }
    }
    bus.subscribe(self, to: Application.WillResignActive.self) { timer, _ in
      timer.ticking?.cancel()
      timer.stopwatch.stop(at: timer.now())
      timer.tell()
    }
  }

  var elapsed: Duration { stopwatch.elapsed(at: now()) }

  private func tick(_ clock: some Clock<Duration>) async {
    while !Task.isCancelled {
      tell()
      // At the next whole second of what is shown, or some seconds would be left out.
      let fraction = Duration(secondsComponent: 0, attosecondsComponent: elapsed.components.attoseconds)
      try? await clock.sleep(for: .seconds(1) - fraction)
    }
  }

  private func tell() { bus.post(DidTick(elapsed: elapsed), from: self) }
}
