import CBenchmarks

extension Poster {
  /// A loop in C over bare functions with a context, called as the bus calls its handlers.
  static func floor(_ work: Work) -> Poster? {
    guard let handlers = BareHandlers(work) else { return nil }
    return Poster(Column.floor) { bench_floor_post(handlers.start, handlers.count, 1, $0) }
  }
}

/// Functions with their contexts, as C wants them.
private final class BareHandlers: @unchecked Sendable {
  let start: UnsafePointer<bench_handler>
  let count: Int
  private let storage: UnsafeMutableBufferPointer<bench_handler>
  private let contexts: [Counter]

  init?(_ work: Work) {
    let function: UnsafeRawPointer
    switch work {
    case .counting(let bank): (contexts, function) = (bank.counters, bench_counting_function())
    // The function does not look at its context; C's type wants one.
    case .tallying(let count): (contexts, function) = (CounterBank(count).counters, bench_tallying_function())
    case .owning: return nil
    }
    count = contexts.count
    storage = .allocate(capacity: max(1, count))
    for (index, context) in contexts.enumerated() {
      let handler = bench_handler(function: function, context: Unmanaged.passUnretained(context).toOpaque())
      storage.initializeElement(at: index, to: handler)
    }
    start = UnsafePointer(storage.baseAddress!)
  }

  deinit { storage.deallocate() }
}
