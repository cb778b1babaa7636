import AppLifecycle
import PubSub

/// Brings what the host thread has for the application to the main actor, in order.
///
/// The one place where the host makes tasks.
final class MainActorMailbox: Sendable {
  /// Something for the main actor.
  enum Item: Sendable {
    case input(TerminalStateMachine.Delivery)
    case keys([UInt8])
    case display
    case continued
  }

  private let application: Application
  private let terminal: Terminal
  /// Told, on the main actor, when the application has handled an input.
  private let didHandle: @Sendable (_ id: Int, _ stragglers: [String]) -> Void
  private let items = Guarded<[Item]>([])

  init(
    application: Application, terminal: Terminal,
    didHandle: @escaping @Sendable (_ id: Int, _ stragglers: [String]) -> Void
  ) {
    self.application = application
    self.terminal = terminal
    self.didHandle = didHandle
  }

  /// Adds something; never waits.
  func send(_ item: Item) {
    items.withLock { $0.append(item) }
    // A task for each: an input that waits for a tear-down must not hold up the one that cancels it. Each takes the oldest
    // item, and hands an input to the application before it first waits; so the order is that of sending, whichever of the
    // tasks runs first.
    Task { @MainActor in await self.deliverNext() }
  }

  @MainActor private func deliverNext() async {
    switch items.withLock({ $0.removeFirst() }) {
    case .input(let delivery):
      let report = await application.handle(delivery.input, cause: delivery.cause)
      if delivery.needsDisplay { requestDisplay() }
      didHandle(delivery.id, report.stragglers)
    case .keys(let bytes):
      application.bus.post(Terminal.DidReceiveInput(terminal: terminal, bytes: bytes), from: terminal)
    case .display: requestDisplay()
    case .continued: application.bus.post(TerminalHost.WasContinued(terminal: terminal), from: terminal)
    }
  }

  @MainActor private func requestDisplay() {
    application.bus.post(Terminal.NeedsDisplay(terminal: terminal, size: terminal.size), from: terminal)
  }
}
