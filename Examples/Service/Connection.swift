import Dispatch

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The server, as a connection sees it.
@MainActor protocol ConnectionOwner: AnyObject {
  /// The client has sent more than its first share; the server calls ``Connection/takeTurn()`` when it is the client's turn.
  func addToQueue(_ connection: Connection)
  /// The connection is over.
  func didEnd(_ connection: Connection)
  /// Lends memory for a share of bytes, and an empty answer.
  func withBuffers<Result>(_ body: (UnsafeMutableRawBufferPointer, inout [UInt8]) -> Result) -> Result
}

/// The connection of one client, which answers each line with the number of its words.
@MainActor final class Connection {
  typealias Served = TurnQueue<Connection>.Served

  /// How many bytes a client's first share has; the client then waits for its turn.
  static let firstShare = 1024
  /// How many bytes a client's share has in its turn.
  static let share = 4096
  /// The cost of a share's system calls, counted as bytes, so that a turn serves few clients even if each has sent little.
  private static let costOfCalls = 512

  private let socket: Int32
  private let reading: any DispatchSourceRead
  private let owner: any ConnectionOwner
  private var counter = WordCounter()
  private var isFinishing = false
  private var isOver = false
  /// Whether the connection waits for its turn, with its source suspended, and not for its client.
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

  /// Ends the connection after the line that has begun: the service is about to end.
  ///
  /// The client may have sent bytes that are still unread. They are read before the connection counts as idle.
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

  /// Answers the bytes that the client has sent, if they are few; a client that sends without a pause waits for its turn.
  private func clientHasSent() {
    guard serve(Self.firstShare).hasMore else { return }
    isQueued = true
    reading.suspend()
    owner.addToQueue(self)
  }

  /// Answers a share of the bytes that the client has sent, and waits for the client again if there were no more.
  func takeTurn() -> Served {
    guard !isOver else { return Served(work: 0, hasMore: false) }
    let served = serve(Self.share)
    if !served.hasMore { leaveQueue() }
    return served
  }

  /// Resumes the source: a suspended source would never be cancelled, and reports nothing.
  private func leaveQueue() {
    if isQueued { reading.resume() }
    isQueued = false
  }

  /// Reads once, and answers all lines that end in those bytes by one write.
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

  /// Sends without waiting; returns false if the client does not read its answers.
  private func send(_ bytes: [UInt8]) -> Bool {
    bytes.isEmpty || write(socket, bytes, bytes.count) == bytes.count
  }
}
