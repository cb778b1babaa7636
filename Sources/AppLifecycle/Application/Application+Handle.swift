internal import PubSub
package import Scheduling

// The methods with which a host reports inputs; the inbox runs one input after another.

extension Application {
  /// Runs the transition of an input, and returns when it has finished, tear-down included, or when its budget has
  /// passed.
  ///
  /// Inputs run in order of arrival, after the current transition. Cancelling the calling task does not shorten the
  /// wait.
  ///
  /// Inside code for which a transition waits, waiting for the next transition would be a deadlock. There the method
  /// queues the input and returns at once:
  ///
  /// - in an asynchronous handler of a closing notification
  /// - in the acquire, release, `run` loop or health check of a managed resource
  /// - in a body of ``run(while:after:label:fileID:line:_:)``, or of a `run` with an owner
  /// - in the operation of a ``performBackgroundTask(named:_:)``
  /// - in an asynchronous handler of a bus for which such code waits with `postAndWait` or `cancelAndDrain`, directly
  ///   or along a chain of waits
  ///
  /// In a handler of a plain `post`, for which no code waits, the method does wait. It also waits in a task that one of
  /// the pieces of code above has started, once that code has returned.
  ///
  /// For a ``SystemInput/terminate`` the method returns when the application has ended or the delegate has refused.
  /// Other inputs run until the delegate has answered. Inside `applicationShouldTerminate` itself the method queues a
  /// `terminate`, and awaits any other input.
  ///
  /// - Parameters:
  ///   - input: the action of the system.
  ///   - cause: the cause that notifications and the records of all that follows show; if nil, the input itself. The record
  ///     of the input (``LifecycleRecord/Kind/input``) has the input as its cause in any case.
  /// - Returns: the outcome of the input.
  @discardableResult
  public func handle(_ input: SystemInput, cause: LifecycleCause? = nil) async -> TransitionReport {
    await handle(.system(input), cause: cause)
  }

  /// Runs the transition of an input, which may also be an action of a simulated device.
  @discardableResult
  package func handle(_ input: LifecycleInput, cause: LifecycleCause? = nil) async -> TransitionReport {
    await handle(PendingInput(input: input, cause: cause ?? LifecycleCause(input)))
  }

  /// Handles an input as ``handle(_:cause:)`` does; an application that is suspended at its turn is woken first.
  ///
  /// A host that ends the application uses it, because a suspended application would end without a call. Whether the
  /// application is suspended is known only at the input's turn: a suspension may be queued before it.
  ///
  /// - Parameters:
  ///   - input: the action of the system.
  ///   - cause: the cause that notifications and the records of all that follows show.
  /// - Returns: the outcome of the input.
  package func handleAwake(_ input: SystemInput, cause: LifecycleCause) async -> TransitionReport {
    await handle(PendingInput(input: .system(input), cause: cause, wakesFirst: true, isByHost: true))
  }

  /// Wakes the application if it is suspended and an input requires it.
  func wake(for pending: PendingInput) async {
    guard pending.wakesFirst, present.state == .suspended else { return }
    _ = await TransitionRun(PendingInput(input: .system(.wake), cause: pending.cause), of: self).perform()
  }

  private func handle(_ pending: PendingInput) async -> TransitionReport {
    let asks = pending.input == .system(.terminate)
    let context = HandlerContext.enclosing
    let wait = context?.beginWait(for: asks ? [scope, questions.scope] : [scope])
    let isCircular = context != nil && wait == nil
    if isCircular || asks && questions.isInsideOwnQuestion {
      wait?.end()
      inbox.add(.input(pending), for: self)
      return TransitionReport(outcome: .queued, cause: pending.cause, from: present.state, to: present.state)
    }
    // The input `terminate` may have to wait for the delegate's answer, so it always goes through the queue.
    if !asks, canTakeTurn, inbox.beginOwnTurn() {
      await wake(for: pending)
      let report = await TransitionRun(pending, of: self).perform()
      inbox.endOwnTurn(for: self)
      return report
    }
    var pending = pending
    pending.wait = wait
    let answer = queue(pending)
    return await tasks.waitOnMainActor { await answer.value }
  }

  /// Queues an input and returns at once; its outcome follows.
  package func queue(_ input: SystemInput, cause: LifecycleCause) -> OneShot<TransitionReport> {
    queue(PendingInput(input: .system(input), cause: cause))
  }

  private func queue(_ pending: PendingInput) -> OneShot<TransitionReport> {
    var pending = pending
    let answer = OneShot<TransitionReport>()
    pending.answer = answer
    inbox.add(.input(pending), for: self)
    return answer
  }

  /// Queues an input and returns at once; any thread may call it.
  ///
  /// Inputs run in order of arrival. An application that is not running ignores most of them; ``SystemInput/launch``,
  /// ``SystemInput/launchInBackground``, ``SystemInput/open``, ``SystemInput/fetch`` and, with scenes,
  /// ``SystemInput/openScene(_:)`` launch it. While the screen is locked, only `launchInBackground` and `fetch` do.
  ///
  /// - Parameters:
  ///   - input: the action of the system.
  ///   - cause: the cause that notifications and the records of all that follows show; if nil, the input itself. The record
  ///     of the input (``LifecycleRecord/Kind/input``) has the input as its cause in any case.
  public nonisolated func send(_ input: SystemInput, cause: LifecycleCause? = nil) {
    send(.system(input), cause: cause)
  }

  /// Queues an input, which may also be an action of a simulated device.
  package nonisolated func send(_ input: LifecycleInput, cause: LifecycleCause? = nil) {
    inbox.add(.input(PendingInput(input: input, cause: cause ?? LifecycleCause(input))), for: self)
  }

  /// Whether a transition may run in the current task: the task is not cancelled, or the handlers' work would count as
  /// cancelled, too; it belongs to no handler, not even one that has returned; no observer is being called; and no
  /// simulation must run the transition on its own executor.
  private var canTakeTurn: Bool {
    !Task.isCancelled && HandlerContext.current == nil && tasks.executor == nil && !observers.isCalling
  }
}
