/// What a program finds at its start, or beside it, and what the system refuses it while it runs.
package enum Condition: Sendable, Hashable {
  /// Environment variables that were meant for another process, or that say nothing right.
  case variables(Variables)
  /// A signal that was ignored when the program was started, and stays ignored.
  case ignored(Signal)
  /// All signals were blocked when the program was started.
  case blocked
  /// Standard streams that are closed or lead elsewhere.
  case streams(Streams)
  /// A child process that the program does not know of, in its process group and with its terminal.
  case child(Child)
  /// The program is process 1 of a name space.
  case firstProcess
  /// From the first screen on, the system makes no thread.
  case noThreads
  /// From the first screen on, the disk with the program's files is full.
  case fullDisk(Disk)
  /// The clocks that count from the machine's start are ten years ahead.
  case otherClocks

  /// Variables of the environment.
  package enum Variables: String, Sendable, CaseIterable {
    /// What a shell under a service passes on: there is a manager, and it waits for another process.
    case manager
    /// What a socket-activated unit passes on.
    case sockets
    /// Values that name nothing.
    case wrong
    /// None at all, but for where the libraries lie.
    case none
  }

  /// Standard streams.
  package enum Streams: String, Sendable, CaseIterable {
    case inputClosed, inputFromNull, errorsClosed, errorsToNull, outputToNull, allClosed
  }

  /// What a child does when it gets an order to end.
  package enum Child: String, Sendable, CaseIterable { case ends, ignoresOrders, hasStopped, hasEnded }

  /// How a disk is full.
  package enum Disk: String, Sendable, CaseIterable {
    /// The file system has no room (ENOSPC).
    case noRoom
    /// No file may grow (EFBIG).
    case fileLimit
  }

  /// Every condition that can be drawn.
  package static let all: [Condition] =
    Variables.allCases.map(Condition.variables) + Signal.ignored.map(Condition.ignored) + [.blocked]
    + Streams.allCases.map(Condition.streams) + Child.allCases.map(Condition.child)
    + [.firstProcess, .firstProcess, .noThreads, .noThreads] + Disk.allCases.map(Condition.fullDisk) + [.otherClocks]

  /// The word under which the table counts it.
  package var kind: String {
    switch self {
    case .variables: "variables"
    case .ignored: "ignored signal"
    case .blocked: "blocked signals"
    case .streams: "streams"
    case .child: "child"
    case .firstProcess: "process 1"
    case .noThreads: "no threads"
    case .fullDisk: "full disk"
    case .otherClocks: "other clocks"
    }
  }

  /// Whether it makes sense in a round, where the others hold as well.
  package func fits(_ round: Round) -> Bool {
    let others = round.conditions
    guard !others.contains(where: { $0.kind == kind }) else { return false }
    switch self {
    // Process 1 is the main process of its unit.
    case .variables(.manager), .variables(.wrong): return !others.contains(.firstProcess)
    case .variables: return true
    case .ignored(let signal): return !round.uses(signal)
    // A signal that all threads block ends nothing, and stops no service, which does not catch it.
    case .blocked:
      if case .fatal = round.ending { return false }
      return round.program.hasScreen || !round.hasStops
    case .streams(let streams):
      switch streams {
      case .inputClosed, .inputFromNull: return true
      // PregTracker plays a script where standard output is no terminal; the service says on standard error that it listens.
      case .errorsClosed, .errorsToNull: return round.program != .service
      case .outputToNull, .allClosed: return round.program == .quickstart || round.program == .probe
      }
    // strace waits for every process.
    case .child: return round.wrapper != .strace && !others.contains(.noThreads)
    // No job control reaches into the name space, and a parent's end is not seen there.
    case .firstProcess:
      if case .order(_, to: .group, _, _) = round.ending { return false }
      return round.wrapper == .none && !round.hasStops && !round.isVolley && round.ending != .hangUpStopped
        && !round.steps.contains { if case .lend(ownGroup: true, _) = $0 { true } else { false } }
        && !others.contains { [.noThreads, .variables(.manager), .variables(.wrong)].contains($0) }
    // A child needs a process, and these wrappers may be installed where another user may not look. PregTracker's client of its
    // tips sleeps in a task: libdispatch asks for a thread then, and holds the main thread until it has one.
    case .noThreads:
      return round.program != .pregTracker && ![.strace, .python].contains(round.wrapper)
        && !round.steps.contains { if case .lend = $0 { true } else { false } }
        && !others.contains { $0 == .firstProcess || $0 == .otherClocks || $0.kind == "child" }
    case .fullDisk: return round.program.hasJournal
    // Only the superuser makes a name space.
    case .otherClocks: return !others.contains(.noThreads)
    }
  }
}

extension Signal {
  /// Signals that a parent may have ignored.
  package static let ignored = orders + [quit, stop, Signal.fatal[1], Signal.fatal[3]]
}

extension Round {
  /// Whether a signal has something to do with the round.
  fileprivate func uses(_ signal: Signal) -> Bool {
    // A terminal that goes sends SIGHUP, and so does a shell; its keys make the others.
    switch ending {
    case .hangUp, .hangUpStopped, .orphaned: if Signal.orders.contains(signal) { return true }
    case .interrupt: if signal == .interrupt { return true }
    case .quitKey: if signal == .quit { return true }
    case .order(let order, _, _, _): if order == signal { return true }
    case .fatal(let first, let second): if first == signal || second?.signal == signal { return true }
    case .stalled: if signal == .terminate { return true }
    case .volley(let shots): if shots.contains(where: { $0.signal == signal }) { return true }
    case .quit, .kill: break
    }
    return signal == .stop && hasStops
  }

  /// Whether the ending is a volley.
  package var isVolley: Bool { if case .volley = ending { true } else { false } }
}

extension Condition: CustomStringConvertible {
  /// The condition in a few words.
  package var description: String {
    switch self {
    case .variables(let variables): "variables \(variables.rawValue)"
    case .ignored(let signal): "\(signal.name) ignored"
    case .blocked: "all signals blocked"
    case .streams(let streams): "streams \(streams.rawValue)"
    case .child(let child): "a child that \(child.rawValue)"
    case .firstProcess: "as process 1"
    case .noThreads: "no more threads"
    case .fullDisk(let disk): "full disk, \(disk.rawValue)"
    case .otherClocks: "clocks ten years ahead"
    }
  }
}
