import PubSub
import Scheduling

extension Terminal {
  /// The reason why a terminal cannot be lent.
  public enum LendingError: Error, Sendable, Hashable {
    /// The program does not have the terminal: it runs in the background, is about to stop, or ends.
    case notHeld
    /// The terminal is lent already.
    case alreadyLent
  }

  /// A request to the host.
  package enum LendingRequest: Sendable, Hashable {
    case begin
    /// Brings a process group of the borrower to the foreground.
    case bringToForeground(Int32)
    case end
  }

  /// The state of a loan between the program and the host.
  struct Lending: Sendable {
    var isLent = false
    /// Whether the host has ended, so that it answers no request.
    var isClosed = false
    /// Resumed when the host has answered.
    var waiting: CheckedContinuation<LendingError?, Never>?
  }

  /// Lends the terminal to the body, for a child process such as an editor, and takes it back afterwards.
  ///
  /// The host leaves the program's screen and restores the modes of the terminal, as for a stop. Then the body runs. The
  /// host reads no input meanwhile, and drops what the program writes to this terminal. When the body has returned or
  /// thrown, the host takes the terminal again, sets the modes, and posts ``NeedsDisplay``. If another job has the
  /// terminal by then, the application goes to the background instead. Modes that the child leaves are not kept.
  ///
  ///     try await terminal.lend {
  ///       try await runEditor(on: file)
  ///     }
  ///
  /// The application is inactive during the loan, with the reason
  /// `DeactivationReason.terminalLent`.
  ///
  /// Start the child in the program's process group, as `posix_spawn` does by default, with all signals at their default
  /// action and none blocked. Then:
  ///
  /// - Ctrl-C and `Ctrl-\` are for the child. The host ignores these keys' signals during the loan.
  /// - Ctrl-Z stops the child and the program as one job. The application goes to the background and is suspended, and
  ///   `fg` continues both, with the loan. Where no shell with job control runs the program, Ctrl-Z does nothing. If a
  ///   wrapper of the program ignores SIGTSTP, Ctrl-Z stops the child, and no shell continues it: start the child in a
  ///   process group of its own there, which the host continues.
  /// - SIGTERM, SIGHUP and a hang-up end the application in order, without a question. The terminal stays as the child
  ///   has it. The body is not interrupted; a body that runs in a task of the application is cancelled with that task.
  ///
  /// For a child in a process group of its own, call ``bringToForeground(processGroup:)`` in the body.
  ///
  /// - Parameters:
  ///   - isolation: the actor on which the body runs; that of the caller.
  ///   - body: the code that starts the child and waits for its end.
  /// - Returns: what the body returns.
  /// - Throws: ``LendingError`` if the terminal cannot be lent; the body does not run then. Otherwise, what the body
  ///   throws.
  public func lend<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async throws -> Result {
    if let error = await beginLending(isolation: isolation) { throw error }
    do {
      let result = try await body()
      await endLending(isolation: isolation)
      return result
    } catch {
      await endLending(isolation: isolation)
      throw error
    }
  }

  /// Makes a process group the foreground group of the terminal until the loan ends, and continues it.
  ///
  /// Call it in the body of ``lend(isolation:_:)``, for a child that was started in a process group of its own, as
  /// `Process` of Foundation does on Linux. A process of a background group that reads from the terminal is stopped by the
  /// kernel, so this method also sends the group SIGCONT. If Ctrl-Z stops the group, the host stops the program with it,
  /// and `fg` continues both. The program's own group needs none of this. Without a loan the method does nothing.
  ///
  /// - Parameter group: the number of the group: that of the child, if the child leads it.
  public func bringToForeground(processGroup group: Int32) { request(.bringToForeground(group)) }

  private func beginLending(isolation: isolated (any Actor)?) async -> LendingError? {
    await withCheckedContinuation { (continuation: CheckedContinuation<LendingError?, Never>) in
      let error: LendingError? = self.lending.withLock { lending in
        if lending.isLent { return .alreadyLent }
        if lending.isClosed { return .notHeld }
        (lending.isLent, lending.waiting) = (true, continuation)
        return nil
      }
      if let error { continuation.resume(returning: error) } else { request(.begin) }
    }
  }

  private func endLending(isolation: isolated (any Actor)?) async {
    _ = await withCheckedContinuation { (continuation: CheckedContinuation<LendingError?, Never>) in
      let isClosed = self.lending.withLock { lending in
        if lending.isClosed { lending.isLent = false } else { lending.waiting = continuation }
        return lending.isClosed
      }
      if isClosed { continuation.resume(returning: nil) } else { request(.end) }
    }
  }

  // MARK: For the host

  /// Answers the request for a loan; with an error the terminal is not lent.
  package func lendingDidBegin(_ error: LendingError?) { answer(isLent: error == nil, error) }

  /// Confirms that the loan has ended.
  package func lendingDidEnd() { answer(isLent: false, nil) }

  /// Answers all requests, now and later: the host has ended.
  package func closeLending() {
    let waiting = self.lending.withLock { lending in
      defer { (lending.isClosed, lending.waiting) = (true, nil) }
      return lending.waiting
    }
    waiting?.resume(returning: .notHeld)
  }

  private func answer(isLent: Bool, _ error: LendingError?) {
    let waiting = self.lending.withLock { lending in
      defer { (lending.isLent, lending.waiting) = (isLent, nil) }
      return lending.waiting
    }
    waiting?.resume(returning: error)
  }
}
