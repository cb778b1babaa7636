import CUnixHost
import LibC

/// What the user types, from the terminal to the main actor.
extension TerminalHostThread {
  /// Whether to read the terminal's input now: not after a handler, perhaps that of a crash, has left the screen.
  var readsInput: Bool {
    machine.readsTerminal && readsAgain == nil && !omission.isHolding && unixhost_emergency_is_armed()
      && unixhost_emergency_left() == UNIXHOST_NOT_LEFT
  }

  func read() {
    // Nothing after a key that makes the host leave is read. Pasted text has no such keys.
    var trial = parser
    let isLast: (UInt8) -> Bool = { byte in trial.feed([byte], at: SignalPipe.now).contains { $0.isSignalKey } }
    switch device.read(until: parser.findsKeys ? isLast : nil) {
    case .bytes(let bytes):
      take(parser.feed(bytes, at: SignalPipe.now).mergingFocus)
      followUnfinished()
    case .nothing: break
    case .end: process(device.look == .gone ? .hangUp : .endOfInput)
    case .refused:
      // EIO means that the terminal is gone, or that the process is in an orphaned background group.
      if device.look == .background {
        process(.signals([SignalRecord(signal: .backgroundRead)]))
      } else {
        process(.hangUp)
      }
    }
  }

  func take(_ elements: [TerminalInputParser.Element]) {
    for element in elements {
      switch element {
      // Input that is typed while the computer goes to sleep waits until it wakes, except for the keys that end the
      // program.
      case .bytes where isAsleep, .focus where isAsleep: waiting.append(element)
      case .bytes(let bytes):
        tellLogind(.userIsPresent)
        // The parser holds back undecided bytes, so bytes that are still undecided here are keys.
        deliver(decoder.decode(bytes) + decoder.flush(), bytes)
      case .focus(let isFocused):
        breakOffDecoder()
        takeFocus(isFocused)
      case .signalKey(let signal):
        // Input that waits may belong to what the decoder has begun.
        if waiting.isEmpty { breakOffDecoder() }
        let now = SignalPipe.now
        process(.signalKey(SignalRecord(signal: signal, isFromKernel: true, arrived: now, taken: now)))
        readsAgain = .now + Self.leavingKeyPause
        guard !isFinished, machine.holdsTerminal else { return }
      }
    }
  }

  /// Posts input, or omits it if too much waits for the main actor.
  private func deliver(_ keys: [Terminal.Key], _ bytes: [UInt8], omittedBytes: Int = 0) {
    if omission.isOmitting { return omission.omit(bytes: max(bytes.count, omittedBytes)) }
    // A report of the terminal and the release of a key are no answers of the user.
    if !keys.isEmpty { process(.keyPressed) }
    let event = Terminal.DidReceiveInput(
      application: parts.application, terminal: terminal, keys: keys, bytes: bytes, omittedBytes: omittedBytes)
    let cost = InputBacklog.cost(of: keys, bytes)
    backlog.add(cost)
    tell(event)
    parts.mailbox.send { [backlog] in backlog.remove(cost) }
  }

  private func takeFocus(_ isFocused: Bool) {
    if omission.isOmitting { return omission.omit(focus: isFocused) }
    if isFocused { tellLogind(.userIsPresent) }
    backlog.add(InputBacklog.eventCost)
    process(.focus(isFocused))
    parts.mailbox.send { [backlog] in backlog.remove(InputBacklog.eventCost) }
  }

  /// Sets the times at which input that has begun is decided or broken off.
  private func followUnfinished() {
    escapeDeadline = parser.isUndecided ? .now + escapeDelay : nil
    // Escape waits as long as the program has chosen.
    let idleTime = max(TerminalInputParser.idleTime, escapeDelay)
    idleDeadline = parser.isUnfinished || decoder.isUnfinished ? .now + idleTime : nil
  }

  func passTimeOfInput(_ now: Instant) {
    if let time = readsAgain, now >= time { readsAgain = nil }
    for case let time? in [escapeDeadline, idleDeadline] where now >= time && !readsInput {
      // The rest may wait in a terminal that is not read.
      return followUnfinished()
    }
    if let time = escapeDeadline, now >= time {
      take(parser.flush())
      followUnfinished()
    }
    if idleDeadline.hasCome(by: now) {
      take(parser.breakOff())
      breakOffDecoder()
    }
  }

  /// Ends what the decoder has begun, because its rest does not come.
  ///
  /// A report or a key that makes a signal does so, too: the decoder does not see it, and would count the next key as
  /// the rest.
  private func breakOffDecoder() {
    let keys = decoder.breakOff()
    if !keys.isEmpty { deliver(keys, []) }
  }

  /// Follows whether too much input waits for the main actor.
  func followBacklog(_ now: Instant) {
    tell(of: omission.follow(isFull: backlog.isFull, now: now))
  }

  func tell(of omitted: InputOmission.Omitted) {
    if omitted.bytes > 0 { deliver([], [], omittedBytes: omitted.bytes) }
    if let isFocused = omitted.focus { takeFocus(isFocused) }
  }
}
