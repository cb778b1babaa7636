internal import CPubSub

/// What writers have removed and posts may still use; the bus's lock guards it.
///
/// There are two kinds. Memory that posts read (blocks, tables) is freed when no post has announced an address in it;
/// no object of the program waits for that, so writers look for it only when they retire more. What a cancelled handler
/// captured is released when no post is at that handler; the post that is at it reports when it has moved on.
struct Garbage {
  /// Memory that no new post can find.
  private struct Memory {
    let address: UnsafeMutableRawPointer
    let size: Int
    /// The handlers in the memory; nil if it is a table of subjects.
    var block: HandlerBlock?

    var isRead: Bool { pubsub_is_read(address, size) }
    func contains(_ handler: UnsafeRawPointer) -> Bool { handler >= address && handler < address + size }

    func free() {
      if block == nil { pubsub_free(address) } else { address.deallocate() }
    }
  }

  /// A cancelled handler that may run: its addresses in all blocks, and what waits for its end.
  private struct Running {
    let handlers: [UnsafeRawPointer]
    let captured: Captured
    let action: (@Sendable () -> Void)?

    var isIdle: Bool { !handlers.withUnsafeBufferPointer { pubsub_runs($0.baseAddress.unsafelyUnwrapped, $0.count) } }
  }

  private var memory: [Memory] = []
  private var running: [Running] = []

  // MARK: Memory

  /// Frees all memory, at the end of the bus: no post of it is under way.
  mutating func freeAll() {
    for memory in memory { memory.free() }
    memory = []
  }

  mutating func retire(_ block: HandlerBlock) { retire(Memory(address: block.base, size: block.size, block: block)) }

  mutating func retire(_ table: UnsafeMutablePointer<pubsub_table>) {
    retire(Memory(address: table, size: pubsub_table_size(table)))
  }

  private mutating func retire(_ new: Memory) {
    memory.append(new)
    Hook.step("retire: pass the barrier")
    pubsub_barrier()
    memory.removeAll { memory in
      // While something waits for a handler, no other block may get its address.
      if memory.isRead || running.contains(where: { $0.handlers.contains(where: memory.contains) }) { return false }
      Hook.step("free what no thread reads")
      memory.free()
      return true
    }
  }

  // MARK: Handlers

  /// The addresses of a handler in retired blocks.
  func retiredHandlers(_ id: UInt64) -> [UnsafeRawPointer] {
    memory.compactMap { memory in
      memory.block.flatMap { block in block.index(of: id).map { UnsafeRawPointer(block.handlers + $0) } }
    }
  }

  /// Releases what a cancelled handler captured: at once, or when it no longer runs.
  mutating func release(
    _ captured: Captured, of handler: UnsafeRawPointer, _ others: [UnsafeRawPointer], into released: inout Released
  ) {
    pubsub_barrier()  // `pubsub_runs` relies on it.
    var handler: UnsafeRawPointer = handler
    if others.isEmpty, !pubsub_runs(&handler, 1) { return released.add(captured) }
    add(Running(handlers: [handler] + others, captured: captured, action: nil), into: &released)
  }

  /// Calls an action when a cancelled handler no longer runs: at once, if it does not.
  mutating func whenIdle(
    _ handlers: [UnsafeRawPointer], _ action: @escaping @Sendable () -> Void, into released: inout Released
  ) {
    pubsub_barrier()  // `pubsub_runs` relies on it.
    add(Running(handlers: handlers, captured: Captured(), action: action), into: &released)
  }

  private mutating func add(_ new: Running, into released: inout Released) {
    running.append(new)
    endIdle(into: &released)
  }

  /// Releases what waits for handlers that no longer run.
  mutating func endIdle(into released: inout Released) {
    running.removeAll { running in
      guard running.handlers.isEmpty || running.isIdle else { return false }
      released.add(running.captured)
      if let action = running.action { released.add(action) }
      return true
    }
  }
}

/// The objects to release with a handler: its context and its registration.
struct Captured {
  fileprivate var context: UnsafeMutableRawPointer?
  fileprivate var registration: UnsafeMutableRawPointer?

  fileprivate init(context: UnsafeMutableRawPointer? = nil) { self.context = context }

  init(by handler: pubsub_handler, _ entry: HandlerBlock.Entry) {
    if let registration = entry.registration {
      context = registration.captured(by: handler)
      self.registration = Unmanaged.passUnretained(registration).toOpaque()
    } else {
      context = handler.context
    }
  }

  var isEmpty: Bool { context == nil && registration == nil }
}

/// What a writer does after it has unlocked, because it may call the bus: releases objects, and then calls actions.
struct Released {
  /// The first objects; usually there is nothing else, and so nothing is allocated.
  private var first = Captured()
  private var others: [Captured] = []
  private var actions: [@Sendable () -> Void] = []

  /// Keeps an object until the lock has been released: the last release of it may run the program's code.
  mutating func add(_ object: AnyObject) { add(Captured(context: Unmanaged.passRetained(object).toOpaque())) }

  mutating func add(_ captured: Captured) {
    if captured.isEmpty { return }
    if first.isEmpty { first = captured } else { others.append(captured) }
  }

  mutating func add(_ action: @escaping @Sendable () -> Void) { actions.append(action) }

  /// Releases the captures, then performs the actions.
  ///
  /// So a drain, whose action is here, returns after this thread has released what the handler captured. Captures that another
  /// thread took, because it cancelled the handler or its post was at it, are released by that thread.
  func finish() {
    Hook.step("release what was captured")
    release(first)
    for captured in others { release(captured) }
    for action in actions { action() }
  }

  private func release(_ captured: Captured) {
    if let context = captured.context { Unmanaged<AnyObject>.fromOpaque(context).release() }
    if let registration = captured.registration { Unmanaged<AnyObject>.fromOpaque(registration).release() }
  }
}
