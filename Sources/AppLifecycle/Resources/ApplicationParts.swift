internal import PubSub

/// What each operation of a resource uses of its application.
///
/// An object to which a program refers weakly, as it may to an application, has slow retains and releases.
@MainActor final class ApplicationParts {
  let bus: EventBus
  let ledger: ApplicationLedger
  let observers: ObserverList
  let transitions: Transitions
  let values: ObservableValues
  let processTime: ProcessTime
  /// The application owns it and the resources, and takes these parts away before it goes.
  unowned let tearDown: TearDown

  init(of application: Application) {
    (bus, ledger, observers) = (application.bus, application.ownLedger, application.observers)
    (transitions, values) = (application.transitions, application.present)
    (processTime, tearDown) = (application.processTime, application.tearDown)
  }
}
