import CBenchmarks
import Dispatch
import ProgramOptions
import PubSub
import Scheduling
import StressEngine

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Stresses the event bus for a given time.
@main enum Stress {
  static func main() async {
    do {
      let options = try Options(Array(CommandLine.arguments.dropFirst()))
      if options.wantsHelp { return print(Options.help) }
      leaveOutThreadCaches()
      print("seed \(options.seed)")
      let isRight = multitudes(options)
      exit(await run(options) && isRight ? 0 : 1)
    } catch {
      complain("Stress: \(error.sentence)")
      exit(2)
    }
  }

  /// A million subscribers, in each order of cancelling.
  private static func multitudes(_ options: Options) -> Bool {
    guard options.subscribers > 0 else { return true }
    let (bus, clock) = (EventBus(), ContinuousClock())
    var isRight = true
    var former = heapInUse()
    for order in Multitude.Order.allCases {
      let start = clock.now
      let failures = Multitude(count: options.subscribers, order: order, seed: options.seed).run(on: bus)
      let heap = heapInUse()
      print("\(options.subscribers) subscribers, cancelled \(order): \(clock.now - start)")
      fflush(nil)
      for failure in failures { complain("  \(failure)") }
      if let former, let heap, heap > former + MemoryTrend.slack {
        complain("  memory has grown by \((heap - former) / 1024) KiB")
        isRight = false
      }
      former = heap
      isRight = isRight && failures.isEmpty
    }
    return isRight
  }

  private static func run(_ options: Options) async -> Bool {
    let bus = EventBus()
    let watchdog = Watchdog(seed: options.seed)
    var total = StressRound.Outcome()
    var memory = MemoryTrend()
    let (clock, start) = (ContinuousClock(), ContinuousClock().now)
    var (rounds, minutes) = (0, 0)
    while rounds < options.rounds, clock.now - start < .seconds(options.seconds) {
      watchdog.expectEndOfRound(rounds)
      var round = StressRound(seed: options.seed &+ UInt64(rounds))
      round.operations = options.operations
      round.threads = options.threads
      // By turns on a bus that stays, and on one that is released while others still subscribe.
      total.add(await round.run(on: rounds % 2 == 0 ? bus : nil))
      rounds += 1
      memory.add(heapInUse(), at: (clock.now - start) / .seconds(max(1, options.seconds)))
      if !total.failures.isEmpty {
        complain("In round \(rounds - 1), repeat with --seed \(round.seed) --rounds 1:")
        for failure in total.failures { complain("  \(failure)") }
        return false
      }
      if clock.now - start > .seconds(60 * (minutes + 1)) {
        minutes += 1
        print("after \(minutes) min: \(rounds) rounds, \(total.posts) posts, \(memory.summary)")
        fflush(nil)
      }
    }
    print(
      """
      \(rounds) rounds in \((clock.now - start).components.seconds) s: \(total.posts) posts, \(total.deliveries) deliveries, \
      \(total.subscriptions) subscriptions, at most \(total.mostLiving) at a time, \(total.cancels) cancelled
      \(memory.summary)
      """)
    if !bus.subscriptions.isEmpty { complain("\(bus.subscriptions.count) subscriptions are left on the bus") }
    if memory.hasGrown { complain("memory has grown; seed \(options.seed)") }
    return bus.subscriptions.isEmpty && !memory.hasGrown
  }

  /// Begins anew without the caches in which the allocator keeps what a thread has freed: they count as handed out.
  ///
  /// Several hundred KiB for each thread that lives on, which fill as rarer sizes turn up: for an hour that looks like a leak.
  private static func leaveOutThreadCaches() {
    #if os(Linux)
      let variable = "GLIBC_TUNABLES"
      guard heapInUse() != nil, getenv(variable) == nil else { return }
      setenv(variable, "glibc.malloc.tcache_count=0", 1)
      execv("/proc/self/exe", CommandLine.unsafeArgv)
      complain("the heap is measured with the caches of threads: the program cannot begin anew, errno \(errno)")
    #endif
  }

  /// The bytes that the heap has handed out; nil where it cannot be asked, as with a sanitizer in its place.
  private static func heapInUse() -> Int? {
    let bytes = bench_heap_in_use()
    return bytes == 0 ? nil : Int(bytes)
  }
}

/// Writes a line to standard error, at once.
private func complain(_ sentence: String) {
  let line = Array("\(sentence)\n".utf8)
  _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

extension StressRound.Outcome {
  fileprivate mutating func add(_ other: StressRound.Outcome) {
    posts += other.posts
    deliveries += other.deliveries
    subscriptions += other.subscriptions
    cancels += other.cancels
    mostLiving = max(mostLiving, other.mostLiving)
    failures += other.failures
  }
}

/// Ends the program when a round does not end: a thread waits for ever.
private final class Watchdog: Sendable {
  private let round = Guarded(0)
  private let seed: UInt64

  init(seed: UInt64) {
    self.seed = seed
    look(after: -1)
  }

  func expectEndOfRound(_ number: Int) { round.withLock { $0 = number } }

  /// One timer at a time, lest timers count as growth.
  private func look(after former: Int) {
    let present = round.withLock { $0 }
    guard present != former else {
      complain("round \(present) does not end; seed \(seed)")
      abort()
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + 300) { [self] in look(after: present) }
  }
}
