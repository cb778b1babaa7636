package import PseudoTerminal

/// One round of the attack: a program, what is put around it, what happens to it and how it ends.
///
/// A value that a generator draws, and that is printed before it is played.
package struct Round: Sendable, Hashable {
  /// The number, from 0; with the seed it says everything else.
  package var number: Int
  /// The program that is attacked.
  package var program: Program
  /// The shell in which it is started.
  package var shell: Shell
  /// What is put before it on the command line.
  package var wrapper: Wrapper
  /// The window's size.
  package var size: Size
  /// What it finds at its start, and what lies beside it.
  package var conditions: Set<Condition>
  /// What happens before the end.
  package var steps: [Step]
  /// How it ends.
  package var ending: Ending

  package init(
    number: Int, program: Program, shell: Shell, wrapper: Wrapper, size: Size, conditions: Set<Condition> = [],
    steps: [Step], ending: Ending
  ) {
    (self.number, self.program, self.shell, self.wrapper) = (number, program, shell, wrapper)
    (self.size, self.conditions, self.steps, self.ending) = (size, conditions, steps, ending)
  }

  /// A program of this package.
  package enum Program: String, Sendable, CaseIterable {
    case pregTracker = "PregTracker"
    case quickstart = "Quickstart"
    /// It asks for every mode, takes its time to end, and lends its terminal.
    case probe = "TerminalProbe"
    case service = "Service"

    /// Whether it keeps a journal.
    package var hasJournal: Bool { self == .pregTracker || self == .service }
    /// Whether it has the terminal's screen and keys.
    package var hasScreen: Bool { self != .service }
  }

  /// What is put before the program on the command line; both are in one job then.
  package enum Wrapper: String, Sendable, CaseIterable {
    case none, shellCommand, script, timeout, timeoutInForeground, strace, python

    /// The program that must be installed for it.
    package var neededProgram: String? {
      switch self {
      case .none, .shellCommand, .script: nil
      case .timeout, .timeoutInForeground: "timeout"
      case .strace: "strace"
      case .python: "python3"
      }
    }

    /// What a wrapper does with an order to end that it gets.
    package enum Answer: Sendable {
      /// There is no wrapper.
      case none
      /// It sends the order on to the program, and ends with the program's status.
      case forwards
      /// It ignores the order, and ends with the program's status.
      case ignores
      /// It ends by the order when the program has ended; the program is not told.
      case endsLater
      /// It ends by the order at once; the program is not told.
      case ends
      /// It ends by the order, and kills the program a moment before.
      case kills
    }

    /// What it does with an order to end.
    package func answer(to order: Signal) -> Answer {
      switch self {
      case .none: .none
      case .timeout, .timeoutInForeground: .forwards
      // As it does where it writes its trace into a file.
      case .strace: .ignores
      case .shellCommand, .script: order == .interrupt ? .endsLater : .ends
      // Python's `subprocess.call` sends SIGKILL a quarter of a second after a SIGINT: no program saves anything then.
      case .python: order == .interrupt ? .kills : .ends
      }
    }
  }

  /// A window's size in characters.
  package struct Size: Sendable, Hashable {
    package var rows: Int
    package var columns: Int

    package init(rows: Int, columns: Int) {
      self.rows = rows
      self.columns = columns
    }
  }
}

/// What happens to the program before the end of the round.
package enum Step: Sendable, Hashable {
  /// A due date is typed and must be shown as set. PregTracker only.
  case setDate(String)
  /// The window changes so many times, through these sizes, and has its first size again afterwards.
  case resize(count: Int, [Round.Size])
  /// Text is pasted, so many bytes of it. PregTracker only.
  case paste(Paste, count: Int)
  /// Keys that mean nothing to the program, or that it answers by drawing. PregTracker only.
  case keys(Keys)
  /// The terminal is not read for so many milliseconds, and full from the beginning if `isFull`.
  case stall(milliseconds: Int, isFull: Bool)
  /// The job is stopped, and is continued with `fg`, after a `bg` if `byBackground`.
  case suspend(Stop, byBackground: Bool)
  /// The machine's clock is set, by a nanosecond and back.
  case setClock
  /// The terminal's modes are changed by another program. Not the service's: it has none to restore.
  case changeModes(PseudoTerminal.ModeChange)
  /// SIGSTOP to the job, and `fg`.
  case standstill
  /// The terminal is lent to a child, in a process group of its own if `ownGroup`, and stays lent unless it `ends`.
  case lend(ownGroup: Bool, ends: Bool)

  /// What is pasted.
  package enum Paste: String, Sendable, CaseIterable { case bracketed, plain, combiningMarks, longSequence }

  /// What is typed.
  package enum Keys: String, Sendable, CaseIterable { case focusReports, arrows, redraw, help }

  /// What stops the job.
  package enum Stop: String, Sendable, CaseIterable {
    /// Ctrl-Z.
    case key
    /// SIGTSTP to the program alone, which then stops the whole job.
    case signal
  }
}

/// How a round ends.
package enum Ending: Sendable, Hashable {
  /// The program's own key, `q`.
  case quit
  /// Ctrl-C.
  case interrupt
  /// An order to end, sent so many times within a moment; each time SIGCONT follows if it `continues`.
  case order(Signal, to: Target, count: Int, continues: Bool = false)
  /// An order to a wrapper that ends and does not tell the program, which is asked to end after that.
  case orphaned(Signal)
  /// SIGHUP and SIGCONT to a job that is stopped, as a shell sends them when it ends.
  case hangUpStopped
  /// Ctrl-\.
  case quitKey
  /// A signal that ends a process by default, and perhaps a second one shortly after it.
  case fatal(Signal, then: Second? = nil)
  /// SIGKILL.
  case kill
  /// The terminal is full and is not read for so many milliseconds, beginning before the order.
  case stalled(Order, milliseconds: Int)
  /// The window is closed.
  case hangUp
  /// Orders, stops and continuations in a row, and SIGCONT after the last one.
  case volley([Shot])

  /// One signal of a volley, perhaps several times.
  package struct Shot: Sendable, Hashable {
    package var signal: Signal
    /// How many times it is sent without a pause.
    package var count: Int
    /// Whether it goes to the whole group.
    package var toGroup: Bool
    /// The time before it, in microseconds.
    package var pause: Int

    package init(_ signal: Signal, count: Int = 1, toGroup: Bool = false, after pause: Int = 0) {
      (self.signal, self.count, self.toGroup, self.pause) = (signal, count, toGroup, pause)
    }
  }

  /// A second signal.
  package struct Second: Sendable, Hashable {
    package var signal: Signal
    /// The time since the first one, in microseconds.
    package var pause: Int

    package init(_ signal: Signal, after pause: Int) { (self.signal, self.pause) = (signal, pause) }
  }

  /// Where a signal goes to.
  package enum Target: String, Sendable, CaseIterable { case program, wrapper, group }

  /// How a program is told to end while its terminal is stalled.
  package enum Order: String, Sendable, CaseIterable { case key, signal }
}

/// A signal with the name that a reader knows it by.
package struct Signal: Sendable, Hashable {
  package var number: Int32
  package var name: String

  package init(_ number: Int32, _ name: String) {
    self.number = number
    self.name = name
  }
}
