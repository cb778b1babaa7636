package import AppLifecycle
import Dispatch
import Glibc
import Synchronization

/// A double of a library that traps signals itself: it replaces the host's handlers when it runs, and ends its run when it
/// has seen one.
///
/// How the libraries do it was read in their sources: a dispatch source of Linux installs a handler once in the life of the
/// process, and opens a signalfd for each source.
package enum SignalTaker: String, Sendable, CaseIterable {
  /// It installs a handler with `sigaction`.
  case handler
  /// It makes dispatch sources.
  case source
  /// It makes dispatch sources a second time: no handler is installed any more.
  case sourceAgain = "source-again"
  /// It ignores the signals, as one does that reads them elsewhere.
  case ignoring
  /// Its handler of SIGCONT has begun, and does not return until the test lets it.
  case busy

  /// The signals that it takes.
  private static let signals = [SIGTERM, SIGINT]

  /// What its handlers have seen, as a pipe that its run reads.
  private static let seen: (reader: Int32, writer: Int32) = {
    var ends: [Int32] = [0, 0]
    pipe(&ends)
    return (ends[0], ends[1])
  }()
  private static let isBusy = Atomic(false)
  private static let hasRaised = Atomic(false)
  private static let gate = Mutex<Gate?>(nil)

  /// Manages a resource whose loop takes the signals.
  ///
  /// The log has a line when the host has all of them again.
  ///
  /// - Parameters:
  ///   - taker: the library; nil for none.
  ///   - application: the application that manages it.
  ///   - path: the gate at which its handler waits.
  ///   - raises: whether a SIGTERM arrives as soon as the library has taken it, the first time.
  ///   - log: the log.
  @MainActor package static func manage(
    _ taker: SignalTaker?, in application: Application, gate path: String?, raises: Bool = false, log: Log
  ) {
    guard let taker else { return }
    gate.withLock { $0 = path.map { Gate($0) } }
    do {
      try application.manage("library", while: .running) {
      } run: {
        await taker.run(raises: raises, log)
      }
    } catch {
      fatalError("\(error)")
    }
  }

  private func run(raises: Bool, _ log: Log) async {
    var sources: [any DispatchSourceSignal] = []
    switch self {
    case .handler: install(on: Self.signals)
    case .ignoring: for number in Self.signals { signal(number, SIG_IGN) }
    case .busy:
      install(on: Self.signals)
      startThread { Self.stayBusy() }
    case .source: sources = await Self.makeSources()
    case .sourceAgain:
      let former = await Self.makeSources()
      for source in former { source.cancel() }
      while !Self.hostHasAll { usleep(1_000) }
      sources = await Self.makeSources()
    }
    log.write("library runs")
    if raises, !Self.hasRaised.exchange(true, ordering: .sequentiallyConsistent) { kill(getpid(), SIGTERM) }
    startThread {
      while !Self.hostHasAll || self == .busy && !Self.isBusy.load(ordering: .sequentiallyConsistent) { usleep(1_000) }
      log.write("signals are the host's")
    }
    await Self.untilSeen()
    if !Task.isCancelled { log.write("library has seen a signal") }
    for source in sources { source.cancel() }
  }

  /// Installs a handler that writes the signal into the pipe.
  private func install(on numbers: [Int32]) {
    _ = Self.seen
    for number in numbers { signal(number) { _ in _ = write(SignalTaker.seen.writer, "!", 1) } }
  }

  /// Has its handler of SIGCONT run on the calling thread; a SIGCONT that the host was faster to take has no effect.
  private static func stayBusy() {
    while !isBusy.load(ordering: .sequentiallyConsistent) {
      signal(SIGCONT) { _ in
        SignalTaker.isBusy.store(true, ordering: .sequentiallyConsistent)
        SignalTaker.gate.withLock { $0 }?.block()
      }
      raise(SIGCONT)
    }
  }

  private static func makeSources() async -> [any DispatchSourceSignal] {
    var sources: [any DispatchSourceSignal] = []
    for number in signals {
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { _ = write(seen.writer, "!", 1) }
      await withCheckedContinuation { continuation in
        source.setRegistrationHandler { continuation.resume() }
        source.resume()
      }
      sources.append(source)
    }
    return sources
  }

  private static func untilSeen() async {
    nonisolated(unsafe) let source = DispatchSource.makeReadSource(fileDescriptor: seen.reader)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        source.setEventHandler {
          var byte: UInt8 = 0
          if read(seen.reader, &byte, 1) == 1 { source.cancel() }
        }
        source.setCancelHandler { continuation.resume() }
        source.activate()
      }
    } onCancel: {
      source.cancel()
    }
  }

  /// Whether the host has every signal: its handlers stand, and no signalfd has one.
  ///
  /// The host's handler is the one of SIGQUIT, which the double does not take.
  private static var hostHasAll: Bool {
    func handler(_ number: Int32) -> Int {
      var action = sigaction()
      sigaction(number, nil, &action)
      return unsafeBitCast(action.__sigaction_handler.sa_sigaction, to: Int.self)
    }
    let host = handler(SIGQUIT)
    let set = signals.reduce(0 as UInt64) { $0 | 1 << UInt64($1 - 1) }
    return ([SIGCONT] + signals).allSatisfy { handler($0) == host } && signalfds.allSatisfy { $0 & set == 0 }
  }

  /// The signals of each signalfd, a bit each.
  private static var signalfds: [UInt64] {
    (0..<256).compactMap { descriptor in
      let file = open("/proc/self/fdinfo/\(descriptor)", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      var buffer = [UInt8](repeating: 0, count: 512)
      let count = max(0, read(file, &buffer, buffer.count))
      let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
      return lines.first { $0.hasPrefix("sigmask:") }.flatMap { UInt64($0.split(separator: "\t")[1], radix: 16) }
    }
  }
}
