#if PUBSUB_HOOKS
  import CPubSub
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// Runs bodies on threads of their own, one at a time: whose turn it is may change at hook points, and nowhere else.
  ///
  /// The thread that has the turn passes it on, so that no thread ever polls. A thread that is about to take a lock which another one
  /// has, or that waits for a condition, gets no turn before it can go on. A body's thread has ended, with all that the bus
  /// does at the end of a thread, before the turn is passed on for the last time.
  final class Interleaver: @unchecked Sendable {
    private enum State {
      case ready
      case needs(UnsafeRawPointer)
      case awaits(() -> Bool)
      case ended
    }

    /// What chooses the thread that has the next turn.
    enum Choices {
      case search(ScheduleSearch)
      case repeating(Schedule)
    }

    /// A step of one thread.
    struct Step {
      let thread: Int
      let place: UnsafePointer<CChar>
    }

    // The thread that has the turn, and a condition for each thread and one for the thread that has begun the run.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let conditions: UnsafeMutablePointer<pthread_cond_t>
    private var turn: Int

    // The thread that has the turn has all that follows.
    private let bodies: [() -> Void]
    private var states: [State]
    private var owners: [UnsafeRawPointer: Int] = [:]
    private(set) var choices: Choices
    private(set) var steps: [Step] = []
    private(set) var schedule = Schedule()
    private let announce: (Schedule) -> Void
    /// Whether no thread could go on although one had not ended; the threads are lost then.
    private(set) var isStuck = false

    private init(_ bodies: [() -> Void], _ choices: Choices, _ announce: @escaping (Schedule) -> Void) {
      self.bodies = bodies
      self.choices = choices
      self.announce = announce
      states = Array(repeating: .ready, count: bodies.count)
      turn = bodies.count
      pthread_mutex_init(mutex, nil)
      conditions = .allocate(capacity: bodies.count + 1)
      for index in 0...bodies.count { pthread_cond_init(conditions + index, nil) }
    }

    deinit {
      // Threads that are stuck keep it.
      for index in 0...bodies.count { pthread_cond_destroy(conditions + index) }
      conditions.deallocate()
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
    }

    /// Runs bodies to their ends, as far as they get, and returns what happened.
    ///
    /// `announce` is told the schedule so far whenever the turn is about to go another way than the plain one.
    static func run(
      _ bodies: [() -> Void], _ choices: Choices = .repeating(Schedule()),
      announce: @escaping (Schedule) -> Void = { _ in }
    ) -> Interleaver {
      let interleaver = Interleaver(bodies, choices, announce)
      _ = isInstalled
      let threads = bodies.indices.map { interleaver.start($0) }
      interleaver.passOn(from: bodies.count)
      if !interleaver.isStuck { for thread in threads { pthread_join(thread, nil) } }
      return interleaver
    }
  }

  // MARK: - Hook points

  extension Interleaver {
    /// For good: threads without a run go on at once.
    private static let isInstalled: Void = pubsub_install_scheduler { move, place, lock in
      guard let participant = Participant.current else { return }
      participant.interleaver.take(move, place, lock, participant.index)
    }

    /// A hook point of a test.
    static func step(_ place: StaticString) {
      guard let participant = Participant.current else { return }
      let place = UnsafeRawPointer(place.utf8Start).assumingMemoryBound(to: CChar.self)
      participant.interleaver.take(PUBSUB_STEPS, place, nil, participant.index)
    }

    /// Takes a lock that is none but to the scheduler.
    static func lock(_ lock: UnsafeRawPointer) { pubsub_hook(PUBSUB_LOCKS, "lock", lock) }
    static func unlock(_ lock: UnsafeRawPointer) { pubsub_hook(PUBSUB_HAS_UNLOCKED, "unlock", lock) }

    /// Waits for what another thread brings about.
    static func wait(until condition: @escaping () -> Bool) {
      guard let participant = Participant.current else { return }
      participant.interleaver.wait(for: .awaits(condition), participant.index)
    }

    /// The thread that runs: its place among the bodies.
    static var thread: Int? { Participant.current?.index }

    private func take(_ move: pubsub_move, _ place: UnsafePointer<CChar>, _ lock: UnsafeRawPointer?, _ thread: Int) {
      steps.append(Step(thread: thread, place: place))
      switch move {
      case PUBSUB_LOCKS:
        if let lock {
          wait(for: .needs(lock), thread)
          owners[lock] = thread
        }
      case PUBSUB_HAS_LOCKED:
        if let lock { owners[lock] = thread }
      case PUBSUB_HAS_UNLOCKED:
        if let lock { owners[lock] = nil }
        passOn(from: thread)
      default: passOn(from: thread)
      }
    }

    private func wait(for state: State, _ thread: Int) {
      states[thread] = state
      passOn(from: thread)
      states[thread] = .ready
    }
  }

  // MARK: - Turns

  extension Interleaver {
    private func canGoOn(_ thread: Int) -> Bool {
      switch states[thread] {
      case .ready: true
      case .needs(let lock): owners[lock] == nil
      case .awaits(let condition): condition()
      case .ended: false
      }
    }

    /// Passes the turn to the chosen thread, and returns when it is this one's again; of one that has ended, at once.
    private func passOn(from thread: Int) {
      let isFree = thread == bodies.count || !canGoOn(thread)
      if !isFree, !mayStop { return }
      // To go on costs nothing; to stop a thread that could go on is a preemption.
      var options = isFree ? [] : [thread]
      for other in bodies.indices where other != thread && canGoOn(other) { options.append(other) }
      let next: Int
      switch options.count {
      case 0:
        isStuck = states.contains { if case .ended = $0 { false } else { true } }
        next = bodies.count
      case 1: next = options[0]
      default: next = choose(among: options, isFree: isFree)
      }
      if next != thread { handOver(to: next, from: thread) }
    }

    /// Whether a thread that could go on may be stopped.
    private var mayStop: Bool {
      switch choices {
      case .search(let search): search.canSpend
      case .repeating: true
      }
    }

    private func choose(among options: [Int], isFree: Bool) -> Int {
      var next = options[0]
      switch choices {
      case .search(var search):
        // Taken out, lest it be copied.
        choices = .repeating(schedule)
        next = options[search.choose(among: options.count, isFree: isFree)]
        choices = .search(search)
      case .repeating(let schedule):
        let chosen = schedule.switches.first { $0.step == steps.count }?.thread
        if let chosen, options.contains(chosen) { next = chosen }
      }
      if next != options[0] {
        schedule.switches.append(.init(step: steps.count, thread: next))
        announce(schedule)
      }
      return next
    }

    private func handOver(to next: Int, from thread: Int) {
      var hasEnded = false
      if thread < bodies.count, case .ended = states[thread] { hasEnded = true }
      pthread_mutex_lock(mutex)
      turn = next
      pthread_cond_signal(conditions + next)
      while !hasEnded, turn != thread { pthread_cond_wait(conditions + thread, mutex) }
      pthread_mutex_unlock(mutex)
    }

    private func begin(_ thread: Int) {
      pthread_mutex_lock(mutex)
      while turn != thread { pthread_cond_wait(conditions + thread, mutex) }
      pthread_mutex_unlock(mutex)
      bodies[thread]()
    }

    private func end(_ thread: Int) {
      states[thread] = .ended
      passOn(from: thread)
    }
  }

  // MARK: - Threads

  extension Interleaver {
    /// What a thread knows of itself.
    private final class Participant {
      let interleaver: Interleaver
      let index: Int
      /// Whether all others have been told that the thread ends.
      var isLast = false

      init(_ interleaver: Interleaver, _ index: Int) {
        self.interleaver = interleaver
        self.index = index
      }

      static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { participant in
          guard let participant: UnsafeMutableRawPointer = participant else { return }
          Participant.end(Unmanaged<Participant>.fromOpaque(participant))
        }
        return key
      }()

      static var current: Participant? {
        pthread_getspecific(key).map { Unmanaged<Participant>.fromOpaque($0).takeUnretainedValue() }
      }

      private static func end(_ participant: Unmanaged<Participant>) {
        // Threads that are told of a thread's end are told in no order; one that asks again is told after all others.
        if !participant.takeUnretainedValue().isLast {
          participant.takeUnretainedValue().isLast = true
          pthread_setspecific(key, participant.toOpaque())
          return
        }
        let last = participant.takeRetainedValue()
        last.interleaver.end(last.index)
      }
    }

    private func start(_ index: Int) -> pthread_t {
      let participant = Unmanaged.passRetained(Participant(self, index))
      #if canImport(Darwin)
        var thread: pthread_t?
      #else
        var thread = pthread_t()
      #endif
      let status = pthread_create(&thread, nil, Self.main, participant.toOpaque())
      precondition(status == 0, "no thread could be started")
      #if canImport(Darwin)
        return thread!
      #else
        return thread
      #endif
    }

    #if canImport(Darwin)
      private static let main: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { run($0) }
    #else
      private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { run($0!) }
    #endif

    private static func run(_ memory: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
      pthread_setspecific(Participant.key, memory)
      let participant = Unmanaged<Participant>.fromOpaque(memory).takeUnretainedValue()
      participant.interleaver.begin(participant.index)
      return nil
    }
  }
#endif
