internal import PubSub

/// A weak reference to an application, for its parts and for what must not keep it.
///
/// One for all, and no `weak` one: that would move the application's counts to a side table, which makes each retain and
/// release of it slow, and every call and event has some.
package final class ApplicationReference: @unchecked Sendable {
  /// Set in the application's initializer, before any other code sees it.
  private var reference: LightReference?

  /// The application; nil after it has been released.
  package var application: Application? { reference?.object.map { unsafeDowncast($0, to: Application.self) } }

  func refer(to application: Application) { reference = LightReference(application) }
}
