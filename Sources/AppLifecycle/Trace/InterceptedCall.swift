internal import PubSub
internal import Scheduling

/// A call, and the interceptors to run around it.
///
/// A class, so that the nil of an application without interceptors costs a word.
final class InterceptedCall: Sendable {
  fileprivate let call: TracedCall
  fileprivate let interceptors: [any CallInterceptor]

  fileprivate init(_ call: TracedCall, _ interceptors: [any CallInterceptor]) {
    (self.call, self.interceptors) = (call, interceptors)
  }
}

extension InterceptedCall: HandlerWrapper {
  func callHandler(_ handler: () throws -> Bool) throws -> Bool { try interceptors[...].run(call, handler) }

  func callHandler(_ handler: () async throws -> Void) async throws {
    try await interceptors[...].run(call, handler)
  }
}

extension InterceptedCall? {
  /// Runs a synchronous call, inside the interceptors if there are any.
  func run<Result>(_ operation: () throws -> Result) rethrows -> Result {
    guard let self else { return try operation() }
    return try self.interceptors[...].run(self.call, operation)
  }

  /// Runs an asynchronous call, inside the interceptors if there are any.
  func run<Result>(_ operation: () async throws -> Result) async rethrows -> Result {
    guard let self else { return try await operation() }
    return try await self.interceptors[...].run(self.call, operation)
  }
}

extension ArraySlice<any CallInterceptor> {
  fileprivate func run<Result>(_ call: TracedCall, _ operation: () throws -> Result) rethrows -> Result {
    guard let first else { return try operation() }
    return try first.intercept(call) { try dropFirst().run(call, operation) }
  }

  fileprivate func run<Result>(
    _ call: TracedCall, _ operation: () async throws -> Result
  ) async rethrows -> Result {
    guard let first else { return try await operation() }
    return try await first.intercept(call) { try await dropFirst().run(call, operation) }
  }

  fileprivate func run<Result>(_ transition: TracedTransition, _ operation: () async -> Result) async -> Result {
    guard let first else { return await operation() }
    return await first.intercept(transition) { await dropFirst().run(transition, operation) }
  }
}

extension Application {
  /// The call with the interceptors to run around it; nil if there are none.
  func intercepted(_ call: TracedCall?) -> InterceptedCall? {
    guard let call, !configuration.interceptors.isEmpty else { return nil }
    return InterceptedCall(call, configuration.interceptors)
  }

  /// A call of which observers are not told when it begins; nil if there are no interceptors.
  func interceptedCall(
    _ entry: @autoclosure () -> LedgerEntry, isSynchronous: Bool = false, isLongRunning: Bool = false,
    in transition: TracedTransition.ID? = nil
  ) -> InterceptedCall? {
    guard !configuration.interceptors.isEmpty else { return nil }
    return intercepted(
      observers.number(entry(), isSynchronous: isSynchronous, isLongRunning: isLongRunning, in: transition))
  }

  /// Calls a method of the delegate that the ledger does not list, such as one of saved state.
  package func callDelegate<Result>(_ method: String, _ operation: () -> Result) -> Result {
    let call = interceptedCall(
      LedgerEntry(.delegate, method, step: method, began: timing.now(), duration: .zero), isSynchronous: true,
      in: transitions.traced)
    return call.run(operation)
  }

  /// Runs a transition inside the interceptors.
  func intercept(_ cause: LifecycleCause, _ perform: () async -> TransitionReport) async -> TransitionReport {
    let transition = TracedTransition(id: transitions.beginTracing(), cause: cause)
    return await configuration.interceptors[...].run(transition, perform)
  }
}
