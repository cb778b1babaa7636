import AppLifecycle

/// An input for the application.
struct HostDelivery: Sendable, Hashable {
  /// The number of the delivery, from 1.
  var id: Int
  var input: SystemInput
  var cause: LifecycleCause
  /// Whether the screen must be drawn after the application has handled the input.
  var needsDisplay = false
  /// Whether `suspend` comes in order: after the tear-down, and after the background tasks have ended or their time has.
  ///
  /// An input that arrives before the end revokes the suspension; see `Application.suspend(cause:)`.
  var inOrder = false

  /// Sends the input to the application; wakes a suspended application before it ends, as it would end without a call.
  @MainActor func perform(on application: Application) async -> TransitionReport {
    if input == .suspend, inOrder { return await application.handleSuspension(cause: cause) }
    if input == .shutDown || input == .terminate { return await application.handleAwake(input, cause: cause) }
    return await application.handle(input, cause: cause)
  }
}
