import Glibc

/// By how much the time of a body grows when its input is eight times as long: 8 where it is linear, 64 where it is quadratic.
///
/// Processor time of this thread: what else the machine does is none of it. The two lengths are measured in turns, and of each the
/// best time counts.
package func growth(of length: Int, _ body: (Int) -> Void) -> Double {
  func time(_ length: Int) -> Duration {
    func now() -> Duration {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    let began = now()
    body(length)
    return now() - began
  }
  let times = (0..<3).map { _ in (time(length), time(8 * length)) }
  return times.map(\.1).min()! / times.map(\.0).min()!
}
