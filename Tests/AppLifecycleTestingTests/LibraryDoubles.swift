import Scheduling

// Operators with the tasks of those of swift-async-algorithms: the first call of `next` starts an unstructured task, whose
// children suspend on continuations that other tasks resume. The rules of the operators are as simple as can be.

/// An operator of a library, as its consumer sees it.
protocol LibraryOperator: Sendable {
  func next() async -> Int?
}

/// Passes on an element when no other has come for an interval, as `debounce` does.
final class DebounceDouble<C: Clock>: LibraryOperator where C.Duration == Duration {
  private struct State {
    var task: Task<Void, Never>?
    var consumer: UnsafeContinuation<Int?, Never>?
    var upstream: UnsafeContinuation<Void, any Error>?
    var timer: UnsafeContinuation<C.Instant, any Error>?
    var pending: (element: Int, deadline: C.Instant)?
    var isFinished = false
  }

  private let base: AsyncStream<Int>
  private let interval: Duration
  private let clock: C
  private let state = Guarded(State())

  init(_ base: AsyncStream<Int>, for interval: Duration, clock: C) {
    (self.base, self.interval, self.clock) = (base, interval, clock)
  }

  deinit { finish() }

  func next() async -> Int? {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { consumer in
        let upstream = state.withLock { state -> UnsafeContinuation<Void, any Error>? in
          guard !state.isFinished else { return nil }
          state.consumer = consumer
          if state.task == nil { state.task = Task { [weak self] in await self?.run() } }
          defer { state.upstream = nil }
          return state.upstream
        }
        upstream?.resume()
        if state.withLock({ $0.isFinished }) { consumer.resume(returning: nil) }
      }
    } onCancel: {
      finish()
    }
  }

  private func run() async {
    await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.consumeUpstream() }
      group.addTask { try await self.keepTime() }
      while !group.isEmpty {
        try? await group.next()
        group.cancelAll()
      }
    }
  }

  private func consumeUpstream() async throws {
    var iterator = base.makeAsyncIterator()
    while true {
      try await withUnsafeThrowingContinuation { continuation in
        let outcome = state.withLock { state -> Result<Void, any Error>? in
          if state.isFinished { return .failure(CancellationError()) }
          if state.consumer != nil { return .success(()) }
          state.upstream = continuation
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
      guard let element = await iterator.next() else { return finish() }
      let deadline = clock.now.advanced(by: interval)
      let timer = state.withLock { state in
        state.pending = (element, deadline)
        defer { state.timer = nil }
        return state.timer
      }
      timer?.resume(returning: deadline)
    }
  }

  private func keepTime() async throws {
    while true {
      let deadline = try await withUnsafeThrowingContinuation { continuation in
        let outcome = state.withLock { state -> Result<C.Instant, any Error>? in
          if state.isFinished { return .failure(CancellationError()) }
          if let pending = state.pending { return .success(pending.deadline) }
          state.timer = continuation
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
      try await clock.sleep(until: deadline, tolerance: nil)
      let due = state.withLock { state -> (Int, UnsafeContinuation<Int?, Never>)? in
        guard let pending = state.pending, pending.deadline <= deadline else { return nil }
        guard let consumer = state.consumer else { return nil }
        (state.pending, state.consumer) = (nil, nil)
        return (pending.element, consumer)
      }
      if let (element, consumer) = due { consumer.resume(returning: element) }
    }
  }

  private func finish() {
    let last = state.withLock { state in
      state.isFinished = true
      defer { (state.consumer, state.upstream, state.timer) = (nil, nil, nil) }
      return state
    }
    last.upstream?.resume(throwing: CancellationError())
    last.timer?.resume(throwing: CancellationError())
    last.task?.cancel()
    last.consumer?.resume(returning: nil)
  }
}

/// Passes on the elements of several streams as they come, as `merge` does.
final class MergeDouble: LibraryOperator {
  private struct State {
    var task: Task<Void, Never>?
    var consumer: UnsafeContinuation<Int?, Never>?
    var upstreams: [UnsafeContinuation<Void, any Error>] = []
    var elements: [Int] = []
    var open: Int
    var isCancelled = false

    var isFinished: Bool { isCancelled || open == 0 }
  }

  private let bases: [AsyncStream<Int>]
  private let state: Guarded<State>

  init(_ bases: AsyncStream<Int>...) {
    self.bases = bases
    state = Guarded(State(open: bases.count))
  }

  func next() async -> Int? {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { consumer in
        let (result, upstreams) = state.withLock { state -> (Int??, [UnsafeContinuation<Void, any Error>]) in
          if !state.elements.isEmpty { return (state.elements.removeFirst(), []) }
          if state.isFinished { return (.some(nil), []) }
          state.consumer = consumer
          if state.task == nil { state.task = Task { await self.run() } }
          defer { state.upstreams = [] }
          return (nil, state.upstreams)
        }
        for upstream in upstreams { upstream.resume() }
        if let result { consumer.resume(returning: result) }
      }
    } onCancel: {
      cancel()
    }
  }

  private func run() async {
    await withThrowingTaskGroup(of: Void.self) { group in
      for base in bases { group.addTask { try await self.consume(base) } }
      while !group.isEmpty { try? await group.next() }
    }
  }

  private func consume(_ base: AsyncStream<Int>) async throws {
    var iterator = base.makeAsyncIterator()
    while true {
      try await withUnsafeThrowingContinuation { continuation in
        let outcome = state.withLock { state -> Result<Void, any Error>? in
          if state.isCancelled { return .failure(CancellationError()) }
          if state.consumer != nil { return .success(()) }
          state.upstreams.append(continuation)
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
      let element = await iterator.next()
      let consumer = state.withLock { state -> UnsafeContinuation<Int?, Never>? in
        if element == nil { state.open -= 1 }
        guard element != nil || state.isFinished else { return nil }
        if let element, state.consumer == nil { state.elements.append(element) }
        defer { state.consumer = nil }
        return state.consumer
      }
      consumer?.resume(returning: element)
      if element == nil { return }
    }
  }

  private func cancel() {
    let last = state.withLock { state in
      state.isCancelled = true
      defer { (state.consumer, state.upstreams) = (nil, []) }
      return state
    }
    for upstream in last.upstreams { upstream.resume(throwing: CancellationError()) }
    last.task?.cancel()
    last.consumer?.resume(returning: nil)
  }
}

/// Reads ahead of its consumer, up to a limit, as `buffer` does.
final class BufferDouble: LibraryOperator {
  private struct State {
    var task: Task<Void, Never>?
    var consumer: UnsafeContinuation<Int?, Never>?
    var producer: UnsafeContinuation<Void, Never>?
    var elements: [Int] = []
    var isFinished = false
  }

  private let base: AsyncStream<Int>
  private let limit: Int
  private let state = Guarded(State())

  init(_ base: AsyncStream<Int>, limit: Int) { (self.base, self.limit) = (base, limit) }

  func next() async -> Int? {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { consumer in
        let (result, producer) = state.withLock { state -> (Int??, UnsafeContinuation<Void, Never>?) in
          if state.task == nil { state.task = Task { await self.run() } }
          defer { state.producer = nil }
          if !state.elements.isEmpty { return (state.elements.removeFirst(), state.producer) }
          if state.isFinished { return (.some(nil), nil) }
          state.consumer = consumer
          return (nil, state.producer)
        }
        producer?.resume()
        if let result { consumer.resume(returning: result) }
      }
    } onCancel: {
      let task = state.withLock { $0.task }
      finish()
      task?.cancel()
    }
  }

  private func run() async {
    var iterator = base.makeAsyncIterator()
    while true {
      if state.withLock({ $0.elements.count >= limit }) {
        await withUnsafeContinuation { continuation in
          let goesOn = state.withLock { state in
            if state.elements.count < limit || state.isFinished { return true }
            state.producer = continuation
            return false
          }
          if goesOn { continuation.resume() }
        }
      }
      guard let element = await iterator.next() else { return finish() }
      let consumer = state.withLock { state in
        if state.consumer == nil { state.elements.append(element) }
        defer { state.consumer = nil }
        return state.consumer
      }
      consumer?.resume(returning: element)
    }
  }

  private func finish() {
    let last = state.withLock { state in
      state.isFinished = true
      defer { (state.consumer, state.producer) = (nil, nil) }
      return state
    }
    last.producer?.resume()
    last.consumer?.resume(returning: nil)
  }
}
