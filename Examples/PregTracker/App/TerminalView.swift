import AppLifecycle
import ExampleSupport
import PubSub
import SavedState
import UnixHost

/// Draws what the other components post, and handles the keys.
///
/// It calls no other component: everything that it shows came in events.
@MainActor final class TerminalView {
  private var contents = ScreenContents() { didSet { if contents != oldValue { drawSoon() } } }
  private var interaction = Interaction() { didSet { contents.mode = interaction.mode } }
  private var update = ScreenUpdate()
  /// Whether keys are being handled: the screen is drawn once, after the last of them.
  private var isTakingKeys = false
  private var needsDrawing = false
  /// The terminal to draw on; nil until the program has it for the first time.
  private var screen: Terminal.NeedsDisplay?
  /// Receives the user's answer whether to quit.
  private var answer: AsyncStream<Bool>.Continuation?
  private let perform: @MainActor (Interaction.Command) -> Void

  /// Passes the action that a key asks for to `perform`, except drawing.
  init(bus: EventBus, perform: @escaping @MainActor (Interaction.Command) -> Void) {
    self.perform = perform
    bus.subscribe(to: PregnancyViewModel.DidChange.self, for: self) { view, model in
      (view.contents.label, view.contents.progress) = (model.label, model.progress)
    }
    bus.subscribe(to: DueDate.DidChange.self, for: self) { view, due in view.contents.dueDate = due.date }
    bus.subscribe(to: ConnectionManager.DidChange.self, for: self) { view, tips in
      (view.contents.tip, view.contents.tipsStatus) = (tips.tip, tips.status)
    }
    bus.subscribe(to: SessionTimer.DidTick.self, for: self) { view, timer in view.contents.activeTime = timer.elapsed }
    bus.subscribe(to: EventLog.DidChange.self, for: self) { view, log in view.contents.events = log.events }
    bus.subscribe(to: SavedState.ProblemDidChange.self, for: self, replay: .latest) { view, state in
      view.contents.problem = state.problem.map { "\($0)" }
    }
    bus.subscribe(to: JournalReporter.DidReport.self, for: self) { view, journal in
      (view.contents.previousRun, view.contents.journalProblem) = (journal.previousRun, journal.problem)
    }

    bus.subscribe(to: Terminal.NeedsDisplay.self, for: self) { view, screen in
      view.screen = screen
      view.redraw()
    }
    bus.subscribe(to: Terminal.DidReceiveInput.self, for: self) { view, input in
      view.take(input.keys)
    }
  }

  private func take(_ keys: [Terminal.Key]) {
    isTakingKeys = true
    for key in keys { press(key) }
    isTakingKeys = false
    if needsDrawing { draw() }
  }

  /// Whether the program may quit: the user is asked if a date was typed and not set.
  ///
  /// The screen stays, and the answer is a key like any other. When the system ends the program meanwhile, the wait is cancelled.
  func mayQuit() async -> Bool {
    guard interaction.askToQuit() else { return true }
    let (answers, answer) = AsyncStream.makeStream(of: Bool.self)
    self.answer = answer
    for await mayQuit in answers { return mayQuit }
    return true
  }

  private func press(_ key: Terminal.Key) {
    switch interaction.press(key) {
    case .redraw: redraw()
    case .answer(let mayQuit): answer?.yield(mayQuit)
    case let command?: perform(command)
    case nil: break
    }
  }

  private func redraw() {
    update.invalidate()
    drawSoon()
  }

  private func drawSoon() {
    needsDrawing = true
    if !isTakingKeys { draw() }
  }

  private func draw() {
    needsDrawing = false
    guard let screen else { return }
    let lines = ScreenLayout(columns: screen.size.columns, rows: screen.size.rows).lines(contents)
    let text = update.show(lines, columns: screen.size.columns)
    // Text written while the program does not have the terminal is dropped. NeedsDisplay is posted when the program has it again.
    if !text.isEmpty { screen.terminal.write(text) }
  }
}
