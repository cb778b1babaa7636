internal import PubSub

extension Application {
  /// Runs a body while a phase of the life cycle holds.
  ///
  ///     await application.run(while: .active) { await game.play() }
  ///
  /// The body begins when the phase opens, or at once if the phase is open. When the phase closes, the application
  /// cancels the body after all handlers of the closing notification. It releases managed resources only when the body
  /// has ended. The transition awaits the end within the budget of didEnterBackground or willTerminate. When the
  /// application resigns active and stays in the foreground, no transition waits; a body that takes longer than the
  /// budget of didEnterBackground is reported. Each run ends before the next one begins, even if the application returns at once.
  /// A body that ends by itself begins again when the phase opens again.
  ///
  /// If the calling task is cancelled, the body is cancelled, too, and the call returns when the body has ended. An
  /// error that the body throws ends the call. A `CancellationError` counts as a return of the body, and does not end
  /// the call.
  ///
  /// A body that uses ``withPhaseClosingHandler(operation:onClose:isolation:)`` or awaits ``phaseCloses()`` is asked to
  /// end. It is cancelled when the time of the tear-down has passed, or earlier, when the phase opens again.
  ///
  /// A body that ignores its cancellation outlives its phase, and the report of the transition names it. If the process
  /// vanishes, the application cancels the body, and the call continues with the next process. If the body ignores this
  /// cancellation, neither the next run nor the end of the call waits for it.
  ///
  /// - Parameters:
  ///   - phase: the phase during which the body runs.
  ///   - label: the body's name in reports; its source position if nil.
  ///   - fileID: the module and file of the call.
  ///   - line: the line of the call.
  ///   - body: the code to run, on the main actor.
  /// - Throws: the error that the body throws.
  public func run<Failure: Error>(
    while phase: LifecyclePhase, label: String? = nil, fileID: String = #fileID, line: Int = #line,
    _ body: @escaping @MainActor () async throws(Failure) -> Void
  ) async throws(Failure) {
    let error = await runs.run(while: phase, EventBus.Subscriber(label: label, fileID: fileID, line: line)) {
      do throws(Failure) { try await body() } catch { return error }
      return nil
    }
    // The body threw this error.
    if let failure = error as? Failure { throw failure }
  }
}
