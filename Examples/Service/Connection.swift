import Dispatch

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What a connection needs of its server.
@MainActor protocol ConnectionOwner: AnyObject {
  /// The client has sent more than its first share; the server calls ``Connection/takeTurn()`` when it is the client's turn.
  func addToQueue(_ connection: Connection)
  /// The connection is over.
  func didEnd(_ connection: Connection)
  /// Lends memory to read a share into, and an empty answer.
  func withBuffers<Result>(_ body: (UnsafeMutableRawBufferPointer, inout [UInt8]) -> Result) -> Result
}

/// One client: each of its lines is answered by the number of words in it.
@MainActor final class Connection {
  typealias Served = TurnQueue<Connection>.Served

  /// What a client is answered at once, in bytes; the server waits for the rest of the clients after that.
  static let firstShare = 1024
  /// What a client is answered in its turn.
  static let share = 4096
  /// What the system calls for a share cost, as so many bytes: a turn serves few clients, even if each has sent little.
  private static let costOfCalls = 512

  private let socket: Int32
  private let reading: any DispatchSourceRead
  private let owner: any ConnectionOwner
  private var counter = WordCounter()
  private var isFinishing = false
  private var isOver = false
  /// Whether it waits for its turn, with its source suspended, instead of for its client.
  private var isQueued = false

  init(_ socket: Int32, owner: any ConnectionOwner) {
    self.socket = socket
    self.owner = owner
    reading = DispatchSource.makeReadSource(fileDescriptor: socket, queue: .main)
    reading.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.clientHasSent() } }
    reading.setCancelHandler { close(socket) }
  }

  /// Greets the client and begins to answer it.
  func begin(with greeting: String) {
    reading.activate()
    if !send(Array("\(greeting)\n".utf8)) { end() }
  }

  /// The service is to end: the line that has begun is the last one.
  ///
  /// What the client has sent may wait unread: it is looked at before the connection counts as idle.
  func finish() {
    isFinishing = true
    if counter.length == 0 { _ = serve(Self.firstShare) }
    if counter.length == 0 { end() }
  }

  func end() {
    guard !isOver else { return }
    isOver = true
    leaveQueue()
    reading.cancel()
    owner.didEnd(self)
  }

  /// Answers what the client has sent, if it is little; a client that sends without a pause waits for its turn.
  private func clientHasSent() {
    guard serve(Self.firstShare).hasMore else { return }
    isQueued = true
    reading.suspend()
    owner.addToQueue(self)
  }

  /// Answers a share of what the client has sent; if that was all, waits for the client again.
  func takeTurn() -> Served {
    guard !isOver else { return Served(work: 0, hasMore: false) }
    let served = serve(Self.share)
    if !served.hasMore { leaveQueue() }
    return served
  }

  /// A source that stays suspended would never be cancelled, nor tell of anything.
  private func leaveQueue() {
    if isQueued { reading.resume() }
    isQueued = false
  }

  /// Reads once, and answers all lines that end in what was read with one write.
  private func serve(_ share: Int) -> Served {
    var count = -1
    let isGoingOn = owner.withBuffers { buffer, answer in
      repeat { count = read(socket, buffer.baseAddress, share) } while count < 0 && errno == EINTR
      guard count > 0 else { return count < 0 && errno == EAGAIN }
      let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      let stop = counter.take(bytes, onlyOneLine: isFinishing, answer: &answer)
      return send(answer) && stop == .endOfInput
    }
    if !isGoingOn { end() }
    return Served(work: max(count, 0) + Self.costOfCalls, hasMore: isGoingOn && count == share)
  }

  /// Sends without waiting; false for a client that does not take it, as it does not read its answers.
  private func send(_ bytes: [UInt8]) -> Bool {
    bytes.isEmpty || write(socket, bytes, bytes.count) == bytes.count
  }
}
