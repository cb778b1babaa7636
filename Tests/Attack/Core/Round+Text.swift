import PseudoTerminal

extension Round: CustomStringConvertible {
  /// The round as text, on one line: what is printed before it is played.
  package var description: String {
    let script = (steps.map(\.description) + [ending.description]).joined(separator: "; ")
    let place =
      (["\(shell)", wrapper == .none ? nil : wrapper.rawValue].compactMap { $0 }
      + conditions.map(\.description).sorted())
      .joined(separator: ", ")
    return "\(number): \(program.rawValue) in \(place), \(size): \(script)"
  }
}

extension Round.Size: CustomStringConvertible {
  /// `24x80`.
  package var description: String { "\(rows)x\(columns)" }
}

extension Step: CustomStringConvertible {
  /// The step in a few words.
  package var description: String {
    switch self {
    case .setDate(let date): "date \(date)"
    case .resize(let count, let sizes):
      "resize \(count) times through \(sizes.map(\.description).joined(separator: " "))"
    case .paste(let paste, let count): "paste \(count) bytes \(paste.rawValue)"
    case .keys(let keys): "keys \(keys.rawValue)"
    case .stall(let milliseconds, let isFull): "stall \(milliseconds) ms\(isFull ? ", full" : "")"
    case .suspend(let stop, let byBackground): "stop by \(stop.rawValue), \(byBackground ? "bg, " : "")fg"
    case .setClock: "clock set"
    case .changeModes(let change): "modes changed from outside, \(change.rawValue)"
    case .standstill: "standstill by SIGSTOP, fg"
    case .lend(let ownGroup, let ends):
      "lend to a child\(ownGroup ? " in a group of its own" : "")\(ends ? "" : " that stays")"
    }
  }

  /// The word under which the table counts it.
  package var kind: String { String(description.prefix { $0 != " " }) }
}

extension Ending: CustomStringConvertible {
  /// The ending in a few words.
  package var description: String {
    switch self {
    case .quit: "q"
    case .interrupt: "Ctrl-C"
    case .order(let signal, let target, let count, let continues):
      "\(signal.name)\(continues ? " and SIGCONT" : "") to the \(target.rawValue)\(count > 1 ? ", \(count) times" : "")"
    case .orphaned(let signal): "\(signal.name) to the wrapper, which ends and tells nothing"
    case .hangUpStopped: "Ctrl-Z, SIGHUP and SIGCONT"
    case .quitKey: "Ctrl-\\"
    case .fatal(let signal, nil): "\(signal.name)"
    case .fatal(let signal, let second?): "\(signal.name), \(second.signal.name) \(second.pause) us later"
    case .kill: "SIGKILL"
    case .stalled(let order, let milliseconds):
      "\(order == .key ? "q" : "SIGTERM") while full and stalled for \(milliseconds) ms"
    case .hangUp: "hang-up"
    case .volley(let shots): "volley of \(shots.map(\.description).joined(separator: ", "))"
    }
  }

  /// The word under which the table counts it.
  package var kind: String {
    switch self {
    case .quit: "q"
    case .interrupt: "Ctrl-C"
    case .order(_, let target, _, true): "SIGHUP and SIGCONT to the \(target.rawValue)"
    case .order(_, let target, let count, false):
      "order to the \(target.rawValue)\(count > 1 ? ", repeated" : "")"
    case .orphaned: "order to the wrapper alone"
    case .hangUpStopped: "SIGHUP and SIGCONT, stopped"
    case .quitKey: "Ctrl-\\"
    case .fatal(_, nil): "fatal signal"
    case .fatal: "two fatal signals"
    case .kill: "SIGKILL"
    case .stalled: "stalled"
    case .hangUp: "hang-up"
    case .volley: "volley"
    }
  }
}

extension Ending.Shot: CustomStringConvertible {
  /// The shot in a few words.
  package var description: String {
    "\(signal.name)\(count > 1 ? " \(count) times" : "")\(toGroup ? " to the group" : "")\(pause > 0 ? " after \(pause) us" : "")"
  }
}
