import AppLifecycle

/// Orders that ask: the application may refuse to end. The program keeps its terminal until the end begins.
extension TerminalStateMachine {
  mutating func wantQuestion(because cause: LifecycleCause) {
    guard termination == nil else { return orders.beginEnd() }
    switch phase {
    case .foreground where isLent:
      orders.beginEnd()
      termination = cause
    case .starting, .foreground, .background: wantedQuestion = cause
    // The terminal has been given back, so the program has no screen on which to ask the user.
    case .leaving, .suspending, .stopped:
      orders.beginEnd()
      termination = cause
    case .terminating, .ended: orders.beginEnd()
    }
  }

  /// Follows the state of the question; an application that has not answered, or has refused, needs its screen.
  mutating func followQuestion(_ new: Inquiry) {
    let wasAnswering = inquiry == .answering
    inquiry = new
    // After an answer the user goes on to work, so the next order is a first one.
    if wasAnswering { forgetRefusal() }
    lookAtScreen()
  }

  /// Notes a key press.
  ///
  /// After a key since the question, the first order after a refusal asks again.
  mutating func followKey() {
    if inquiry == .open { inquiry = .answering }
    forgetRefusal()
  }

  /// Forgets a refusal, so that the next order asks again.
  mutating func forgetRefusal() {
    guard inquiry == .refused else { return }
    inquiry = .none
    orders.forgetQuestion()
  }

  /// Checks whether a signal handler has left the screen, which it does before the host decides.
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
