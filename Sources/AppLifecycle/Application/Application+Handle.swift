internal import PubSub

// What a host calls: each input waits in the inbox until its turn comes.

extension Application {
  /// Runs the transition of an input, and returns when it has finished, tear-down included, or when its budget has passed.
  ///
  /// Inputs run in order of arrival, after the transition that is under way. Inside a handler that a transition waits for (an
  /// asynchronous handler of a closing notification, acquire and release of a managed resource, a body of
  /// ``run(while:label:fileID:line:_:)``, the operation of a ``performBackgroundTask(named:_:)``) the input is queued and this
  /// method returns at once. The same holds inside an asynchronous handler of a bus for which such a handler waits, with
  /// `postAndWait` or `cancelAndDrain`, directly or along a chain of waits. An event of a plain `post` is not waited for: in its
  /// handler this method waits. A task that such a handler has started waits like any other once the handler is over.
  /// Cancelling the calling task ends nothing early.
  ///
  /// For a ``SystemInput/terminate`` the method returns when the application has ended or the delegate has refused; while the
  /// question is open, other inputs run. Inside the question itself it is queued.
  ///
  /// - Parameters:
  ///   - input: what the system does.
  ///   - cause: what records and notifications call it; the input itself if nil.
  /// - Returns: what became of it.
  @discardableResult
  public func handle(_ input: SystemInput, cause: LifecycleCause? = nil) async -> TransitionReport {
    let cause = cause ?? LifecycleCause(input)
    let context = HandlerContext.enclosing
    let wait = context?.beginWait(for: input == .terminate ? [scope, questions.scope] : [scope])
    let isCircular = context != nil && wait == nil
    if isCircular || input == .terminate && questions.isInsideOwnQuestion {
      wait?.end()
      inbox.add(.input(PendingInput(input: input, cause: cause)), for: self)
      return TransitionReport(outcome: .queued, cause: cause, from: present.state, to: present.state)
    }
    // What may have to wait for an answer goes through the queue.
    if input != .terminate, canTakeTurn, inbox.beginOwnTurn() {
      let report = await TransitionRun(PendingInput(input: input, cause: cause), of: self).perform()
      inbox.endOwnTurn(for: self)
      return report
    }
    return await withUnsafeContinuation { waiter in
      inbox.add(.input(PendingInput(input: input, cause: cause, waiter: waiter, wait: wait)), for: self)
    }
  }

  /// Queues an input and returns at once; may be called from any thread.
  ///
  /// - Parameters:
  ///   - input: what the system does.
  ///   - cause: what records and notifications call it; the input itself if nil.
  public nonisolated func send(_ input: SystemInput, cause: LifecycleCause? = nil) {
    inbox.add(.input(PendingInput(input: input, cause: cause ?? LifecycleCause(input))), for: self)
  }

  /// Whether transitions may run in the present task: it belongs to no handler, old or new, and need not be seen by a
  /// simulation.
  private var canTakeTurn: Bool {
    HandlerContext.bound == nil && tasks.executor == nil && !observers.isCalling
  }
}
