import CBenchmarks

/// The floors of an owner's handler: loops in C that retain an owner if it is alive, call its handler and release the owner.
///
/// Neither loop calls a handler whose owner is gone. No owner may have a weak reference: it would move the counts elsewhere.
final class OwnerFloor {
  private let handlers: UnsafeMutableBufferPointer<bench_owner_handler>
  private let durations: UnsafeMutableBufferPointer<Int64>

  init(_ owners: CounterBank) {
    handlers = .allocate(capacity: owners.counters.count)
    durations = .allocate(capacity: owners.counters.count)
    durations.initialize(repeating: 0)
    for (index, owner) in owners.counters.enumerated() {
      handlers.initializeElement(
        at: index,
        to: bench_owner_handler_make(
          bench_owner_counting_function(), Unmanaged.passUnretained(owner).toOpaque()))
    }
  }

  deinit {
    for handler in handlers { bench_owner_handler_end(handler) }
    handlers.deallocate()
    durations.deallocate()
  }

  func post(_ times: Int) { bench_owner_floor_post(handlers.baseAddress!, handlers.count, 1, times) }

  /// The same with a reading of the clock for each handler.
  func postMeasured(_ times: Int) {
    bench_measured_floor_post(handlers.baseAddress!, durations.baseAddress!, handlers.count, 1, times)
  }
}

/// The floor of an owner's handler in the portable build: a loop in Swift that loads a weak reference, calls and releases.
final class WeakFloor {
  private struct Handler {
    weak var owner: Counter?
    let function: UnsafeRawPointer
  }

  // Not an array: its elements would be copied, weak references and all.
  private let handlers: UnsafeMutableBufferPointer<Handler>

  init(_ owners: CounterBank) {
    handlers = .allocate(capacity: owners.counters.count)
    for (index, owner) in owners.counters.enumerated() {
      handlers.initializeElement(at: index, to: Handler(owner: owner, function: bench_owner_counting_function()))
    }
  }

  deinit {
    handlers.deinitialize()
    handlers.deallocate()
  }

  func post(_ times: Int) {
    var amount = 1
    for _ in 0..<times {
      for index in handlers.indices {
        guard let owner = handlers[index].owner else { continue }
        bench_owner_call(handlers[index].function, Unmanaged.passUnretained(owner).toOpaque(), &amount)
        withExtendedLifetime(owner) {}
      }
    }
  }
}
