internal import CPubSub

/// What has been taken out of a topic while somebody may still read it.
enum Garbage {
  /// What a cancelled handler captured; named by the buffers in which it stood.
  case context(UnsafeMutableRawPointer)
  case buffer(HandlerBuffer)
  case directory(Directory)
  case table(SubjectTable)
  /// What somebody does who waits until no handler of a cancelled subscription runs.
  case action(@Sendable () -> Void)
}

/// What the lock has let go of, to be finished without it: it may call back.
struct Released {
  private var contexts: [UnsafeMutableRawPointer] = []
  private var actions: [@Sendable () -> Void] = []
  private var single: UnsafeMutableRawPointer?
  private var registration: Unmanaged<Registration>?
  private var registrations: [Unmanaged<Registration>] = []
  private var kept: [AnyObject] = []

  /// Keeps an object until the lock has been let go of.
  mutating func keep(_ object: AnyObject) { kept.append(object) }

  /// Takes one context without an allocation.
  mutating func add(_ context: UnsafeMutableRawPointer) {
    if single == nil { single = context } else { contexts.append(context) }
  }

  /// Takes one registration without an allocation.
  mutating func add(_ registration: Unmanaged<Registration>) {
    if self.registration == nil { self.registration = registration } else { registrations.append(registration) }
  }

  mutating func add(_ garbage: [Garbage]) {
    for one in garbage {
      switch one {
      case .context(let context): add(context)
      case .buffer(let buffer): buffer.deallocate()
      case .directory(let directory): directory.deallocate()
      case .table(let table): table.deallocate()
      case .action(let action): actions.append(action)
      }
    }
  }

  func finish() {
    if let single { Unmanaged<AnyObject>.fromOpaque(single).release() }
    for context in contexts { Unmanaged<AnyObject>.fromOpaque(context).release() }
    registration?.release()
    for registration in registrations { registration.release() }
    for action in actions { action() }
  }
}

/// The roots that a topic has had and that somebody may still read, with what was retired while each was the root.
///
/// What was retired under a root can be freed when no thread protects that root or any older one: an older one may name it,
/// too. The last root is the present one. Guarded by the bus's lock.
struct Retirement {
  private struct Epoch {
    var root: UnsafeRawPointer?
    var garbage: [Garbage] = []
  }

  private var epochs: [Epoch] = [Epoch(root: nil)]

  /// How many roots somebody may still read, or may have.
  var roots: Int { epochs.count }
  var isEmpty: Bool { epochs.count == 1 && epochs[0].garbage.isEmpty }
  /// Whether something waits for those who read the present root.
  var waitsForPresentRoot: Bool { !epochs[epochs.count - 1].garbage.isEmpty }

  mutating func retire(_ garbage: Garbage) { epochs[epochs.count - 1].garbage.append(garbage) }

  /// A new root was published.
  mutating func didPublish(_ root: UnsafeRawPointer?) {
    if epochs.count == 1, epochs[0].garbage.isEmpty, epochs[0].root == nil {
      epochs[0].root = root
    } else {
      epochs.append(Epoch(root: root))
    }
  }

  /// Whether any thread protects the present root or an older one.
  func isRead() -> Bool { firstRead() < epochs.count }

  /// Whether any thread protects the present root.
  func presentRootIsRead() -> Bool {
    withUnsafePointer(to: epochs[epochs.count - 1].root) { pubsub_first_protected($0, 1) == 0 }
  }

  /// Frees what nobody can read any more.
  mutating func reclaim(into released: inout Released) {
    let first = firstRead()
    for index in 0..<first {
      released.add(epochs[index].garbage)
      epochs[index].garbage = []
    }
    epochs.removeFirst(min(first, epochs.count - 1))
  }

  /// Cancels a handler wherever an older buffer still names it.
  func cancel(_ id: UInt64) {
    for epoch in epochs {
      for case .buffer(let buffer) in epoch.garbage {
        if let index = buffer.index(of: id) { pubsub_cancel_handler(buffer.handlers + index) }
      }
    }
  }

  private func firstRead() -> Int {
    if epochs.count == 1 {
      return withUnsafePointer(to: epochs[0].root) { pubsub_first_protected($0, 1) }
    }
    return epochs.map(\.root).withUnsafeBufferPointer { pubsub_first_protected($0.baseAddress!, $0.count) }
  }
}
