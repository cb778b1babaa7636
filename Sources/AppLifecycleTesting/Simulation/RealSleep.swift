// The runtime asks the executor of a task to let a real sleep pass, if the executor can. This interface of the runtime is not
// public, and so belongs to the compilers that are named here. With others, a real sleep is reported when it ends.
#if os(Linux) && compiler(>=6.3) && compiler(<6.4)
  internal import CSimulation
  internal import Dispatch
  internal import PubSub
  internal import Scheduling
  @_spi(ExperimentalScheduling) internal import _Concurrency

  extension SimulatedMainActor: SchedulingExecutor {
    func enqueue<C: Clock>(
      _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
      sleep(UnownedJob(job), for: delay as? Duration)
    }

    func enqueue<C: Clock>(
      _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
      sleep(UnownedJob(job), for: clock.now.duration(to: instant) as? Duration)
    }

    /// Notes the sleep of the present task, and lets the job that ends it run when the time has passed.
    ///
    /// The job wakes the sleeper on the main queue, so that a sleep that ends in time is no second violation.
    private func sleep(_ job: UnownedJob, for duration: Duration?) {
      if !SimulationExecutor.isExternal { executor?.note(.realSleep(in: Origin.current)) }
      let delay = DispatchTimeInterval.nanoseconds(Int((duration ?? .zero).nanoseconds))
      DispatchQueue.main.asyncAfter(deadline: .now() + delay) {
        csimulation_run(unsafeBitCast(job, to: UnsafeMutableRawPointer.self))
      }
    }
  }
#endif
