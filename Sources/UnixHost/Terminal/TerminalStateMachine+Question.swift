import AppLifecycle

/// An order that asks: the application may refuse to end. The program keeps its terminal until the end begins.
extension TerminalStateMachine {
  mutating func wantQuestion(because cause: LifecycleCause) {
    guard termination == nil else { return orders.beginEnd() }
    switch phase {
    case .starting, .foreground, .background: wantedQuestion = cause
    // The terminal has been given back: there is no screen on which the program could ask its user.
    case .leaving, .suspending, .stopped:
      orders.beginEnd()
      termination = cause
    case .terminating, .ended: orders.beginEnd()
    }
  }

  /// The application takes its time to answer, or goes on: it needs its screen.
  mutating func followQuestion(_ inquiry: Inquiry) {
    self.inquiry = inquiry
    lookAtScreen()
  }

  /// As long as no key was pressed since a refusal, the next order is a second one, which does not ask.
  mutating func followKey() {
    guard inquiry == .refused else { return }
    inquiry = .none
    orders.forgetQuestion()
  }

  /// The handler of a signal leaves the screen before anything is decided.
  mutating func lookAtScreen() {
    guard phase == .foreground, holdsTerminal, question == nil, termination == nil else { return }
    ask(.lookAtScreen, .screen)
  }

  mutating func answerScreen(wasLeft: Bool) {
    guard question == .screen else { return }
    question = nil
    if wasLeft { ask(.lookAtTerminal, .screenWasLeft) }
  }
}
