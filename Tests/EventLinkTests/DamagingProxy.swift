import Glibc
import PseudoTerminal
import Scheduling

/// A port that passes connections on to another one, and damages them at random: the same seed draws the same places.
///
/// One thread serves all connections. It starts sound; ``damage(_:)`` begins, and ``mend()`` ends the damage.
final class DamagingProxy: Sendable {
  enum Damage: Sendable {
    /// Swallows all bytes of one direction from a place in its stream on, and closes the connection half a second later at most.
    ///
    /// The places are so many bytes apart, on average. One connection in eight is damaged before a link is open.
    case tail(every: Int)
    /// Drops single bytes that are so many apart, on average, and leaves the ends to find it.
    case bytes(every: Int)
  }

  /// What the proxy has done.
  struct Count: Sendable {
    var connections = 0
    var damages = 0
  }

  private struct State {
    var damage: Damage?
    /// Whether the connections that are damaged are to be closed now.
    var mustMend = false
    var isOver = false
    var count = Count()
    var mended: [OneShot<Bool>] = []
  }

  let port: UInt16
  private let state = Guarded(State())
  private let wakes: (read: Int32, write: Int32)

  /// Listens; connections are passed on to a port of this machine.
  init(to target: UInt16, seed: UInt64) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard listener >= 0 else { throw SystemError("socket") }
    let port = withLoopback(0) { address, length -> UInt16? in
      var length = length
      guard bind(listener, address, length) == 0, listen(listener, 100) == 0,
        getsockname(listener, address, &length) == 0
      else { return nil }
      return UnsafeRawPointer(address).load(as: sockaddr_in.self).sin_port.byteSwapped
    }
    var ends: [Int32] = [0, 0]
    guard let port, pipe(&ends) == 0 else {
      let error = SystemError("listen")
      close(listener)
      throw error
    }
    (self.port, wakes) = (port, (ends[0], ends[1]))
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    print("damaging proxy: SEED=\(seed)")
    startThread { [self] in
      var server = Server(listener: listener, target: target, random: SplitMix64(seed: seed))
      var goesOn = true
      while goesOn {
        let isWanted = server.serve(wakes.read)
        goesOn = state.withLock { state in
          state.count = server.count
          return !isWanted || server.obey(&state)
        }
      }
      for descriptor in [listener, wakes.read, wakes.write] { close(descriptor) }
    }
  }

  var count: Count { state.withLock { $0.count } }

  /// Begins to damage connections, those that exist, too.
  func damage(_ damage: Damage) { change { $0.damage = damage } }

  /// Damages nothing any more, and returns when that is so and, unless the ends must find them, every damaged connection is closed.
  func mend(closesDamaged: Bool = true) async {
    let mended = OneShot<Bool>()
    change { state in
      (state.damage, state.mustMend) = (nil, closesDamaged)
      state.mended.append(mended)
    }
    _ = await mended.value
  }

  /// Closes everything.
  func end() { change { $0.isOver = true } }

  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      guard !state.isOver else { return }
      body(&state)
      // Under the lock: the thread closes the descriptor after it has seen that all is over.
      var byte: UInt8 = 0
      _ = write(wakes.write, &byte, 1)
    }
  }

  // MARK: The thread

  /// One direction of a connection.
  private struct Way {
    var bytes: [UInt8] = []
    /// The bytes until the next damage.
    var left = Int.max
    var swallows = false
  }

  private struct Connection {
    let descriptors: [Int32]
    /// From the client to the target, and back.
    var ways = [Way(), Way()]
    var closes: ContinuousClock.Instant?
    var isDamaged = false
    var isOver = false
  }

  private struct Server {
    let listener: Int32
    let target: UInt16
    var random: SplitMix64
    var connections: [Connection] = []
    var damage: Damage?
    var count = Count()
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    init(listener: Int32, target: UInt16, random: SplitMix64) {
      (self.listener, self.target, self.random) = (listener, target, random)
    }

    /// Waits for something to do, and does it; returns whether the test may want something.
    mutating func serve(_ wake: Int32) -> Bool {
      var files = polled(wake)
      while poll(&files, nfds_t(files.count), patience()) < 0, errno == EINTR {}
      for place in connections.indices { pass(place, files[(2 + 2 * place)...(3 + 2 * place)].map(\.revents)) }
      let now = ContinuousClock.now
      for place in connections.indices where connections[place].closes ?? now < now { connections[place].isOver = true }
      closeThoseThatAreOver()
      if files[0].revents != 0 { accept() }
      guard files[1].revents != 0 else { return false }
      return read(wake, &buffer, 1) == 1
    }

    private func polled(_ wake: Int32) -> [pollfd] {
      [listener, wake].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        + connections.flatMap { connection in
          (0..<2).map { side in
            // A side is read while nothing of it waits, and written while something of the other one does.
            let reads = connection.ways[side].bytes.isEmpty ? POLLIN : 0
            let writes = connection.ways[1 - side].bytes.isEmpty ? 0 : POLLOUT
            return pollfd(fd: connection.descriptors[side], events: Int16(reads | writes), revents: 0)
          }
        }
    }

    private func patience() -> Int32 {
      let first = connections.compactMap(\.closes).min()
      return first.map { Int32(max(1, (ContinuousClock.now.duration(to: $0) / .milliseconds(1)).rounded(.up))) } ?? -1
    }

    /// Does what the test wants; returns false if all is over.
    mutating func obey(_ state: inout State) -> Bool {
      damage = state.damage
      for place in connections.indices {
        draw(place)
        connections[place].isOver = state.isOver || state.mustMend && connections[place].isDamaged
      }
      closeThoseThatAreOver()
      for mended in state.mended { mended.settle(true) }
      (state.mustMend, state.mended) = (false, [])
      return !state.isOver
    }

    private mutating func closeThoseThatAreOver() {
      for connection in connections where connection.isOver { for one in connection.descriptors { close(one) } }
      connections.removeAll(where: \.isOver)
    }

    private mutating func accept() {
      let client = Glibc.accept(listener, nil, nil)
      guard client >= 0 else { return }
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      guard withLoopback(target, { connect(server, $0, $1) }) == 0 else {
        close(client)
        close(server)
        return
      }
      var yes: Int32 = 1
      for descriptor in [client, server] {
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
      }
      connections.append(Connection(descriptors: [client, server]))
      count.connections += 1
      draw(connections.count - 1, isNew: true)
    }

    /// Draws where a connection is damaged next.
    private mutating func draw(_ place: Int, isNew: Bool = false) {
      for side in 0..<2 {
        switch damage {
        case nil: connections[place].ways[side].left = .max
        case .tail(let distance):
          let isEarly = isNew && Int.random(in: 0..<8, using: &random) == 0
          connections[place].ways[side].left = isEarly ? Int.random(in: 0...500, using: &random) : far(distance, side)
        case .bytes(let distance): connections[place].ways[side].left = far(distance, side)
        }
      }
    }

    /// The client sends less than it receives.
    private mutating func far(_ distance: Int, _ side: Int) -> Int {
      Int.random(in: 0...(side == 0 ? distance / 2 : 2 * distance), using: &random)
    }

    private mutating func pass(_ place: Int, _ events: [Int16]) {
      for side in 0..<2 where events[side] & ~Int16(POLLOUT) != 0 && connections[place].ways[side].bytes.isEmpty {
        let count = read(connections[place].descriptors[side], &buffer, buffer.count)
        if count > 0 {
          take(buffer[..<count], place, side)
        } else if count == 0 || errno != EAGAIN {
          connections[place].isOver = true
        }
      }
      for side in 0..<2 where !connections[place].ways[side].bytes.isEmpty {
        let descriptor = connections[place].descriptors[1 - side]
        let count = connections[place].ways[side].bytes.withUnsafeBytes {
          send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        if count > 0 {
          connections[place].ways[side].bytes.removeFirst(count)
        } else if errno != EAGAIN {
          connections[place].isOver = true
        }
      }
    }

    /// Takes what one side has sent, or a part of it.
    private mutating func take(_ bytes: ArraySlice<UInt8>, _ place: Int, _ side: Int) {
      var bytes = bytes
      while connections[place].ways[side].left < bytes.count {
        let left = connections[place].ways[side].left
        connections[place].ways[side].bytes += bytes.prefix(left)
        bytes = bytes.dropFirst(left)
        if !connections[place].isDamaged || connections[place].closes == nil { count.damages += 1 }
        connections[place].isDamaged = true
        switch damage {
        case .tail?:
          // The other direction may go on until then.
          let silence = Duration.milliseconds(Int.random(in: 0...500, using: &random))
          connections[place].closes = connections[place].closes ?? ContinuousClock.now + silence
          connections[place].ways[side].left = 0
          return
        case .bytes(let distance)?:
          bytes = bytes.dropFirst()
          connections[place].ways[side].left = far(distance, side)
        case nil: connections[place].ways[side].left = .max
        }
      }
      if connections[place].ways[side].left != .max { connections[place].ways[side].left -= bytes.count }
      connections[place].ways[side].bytes += bytes
    }
  }
}
