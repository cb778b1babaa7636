internal import PubSub

extension Application {
  /// Runs a body while a phase of the life cycle holds.
  ///
  ///     await application.run(while: .active) { await game.play() }
  ///
  /// The body begins when the phase opens, at once if it is open now, and is cancelled when the phase is left, after all
  /// handlers of the closing notification; managed resources are released only when it has ended. The transition awaits its end
  /// within the budget of didEnterBackground or willTerminate. Where the application only resigns active, no transition waits; a body that
  /// takes longer than the budget of didEnterBackground is reported. A body has ended before the next one begins, however quickly the
  /// application comes back. A body that ends by itself begins again when the phase opens again.
  ///
  /// Returns when the calling task is cancelled: the body is then cancelled, too, and has ended. An error that the body throws
  /// ends the call; a `CancellationError` does not, and counts as a return.
  ///
  /// A body that uses ``withPhaseClosingHandler(operation:onClose:isolation:)`` or awaits ``phaseCloses()`` is asked to end, and is
  /// cancelled only when the time of the tear-down is up.
  ///
  /// A body that ignores its cancellation outlives its phase, and is named in the report of the transition. If the process
  /// vanishes, the body is cancelled, and the call goes on with the next process. If it ignores that cancellation, too, neither
  /// the next body nor the end of the call waits for it.
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
    let error = await runs.run(while: phase, Subscriber(label: label, fileID: fileID, line: line)) {
      do throws(Failure) { try await body() } catch { return error }
      return nil
    }
    // It is the body's own.
    if let failure = error as? Failure { throw failure }
  }
}
