internal import Scheduling

extension Application {
  private nonisolated static let adopted = Guarded<Application?>(nil)

  /// The program's application; any thread may read it.
  ///
  /// It is the first of these applications that exists:
  ///
  /// 1. the application of the innermost `withShared(_:_:)`, or of the innermost simulated system that plays a script,
  ///    that encloses the task;
  /// 2. in a task that has inherited none, such as a detached one: the application of the simulated system that has started
  ///    it; outside of tasks, as on a dispatch queue: that of the simulated system that plays a script now, if only one
  ///    does, and between scripts that of the one that exists, if it is the only one;
  /// 3. the application that was adopted last (``adopt(_:)``); a host's `main` adopts its application before it makes
  ///    the first callback.
  ///
  /// While a delegate is made, its application does not exist yet, in a program and in a simulated system: only the delegates
  /// of later processes find it in their `init`.
  ///
  /// Few components need this property. Delegate calls pass the application, and the events of the life cycle, of
  /// resources and of a terminal carry it.
  ///
  /// - Precondition: one of these applications exists. Otherwise the program ends with a message that says what to
  ///   do; ``current`` is nil instead.
  public nonisolated static var shared: Application {
    if let current { return current }
    // A release build omits the message of a precondition, so use fatalError.
    fatalError(
      """
      there is no shared application. A program gets one from the `main` of its delegate, or calls Application.adopt(_:) before \
      its host runs. A test calls its code inside Application.withShared(application) { … }. Code on a queue finds the application of \
      a simulated system if no other system exists, or if only this one plays a script.
      """)
  }

  /// The program's application, as ``shared``; nil if there is none.
  ///
  /// Any thread may read it. A library reads it that also works in programs and tests without an application.
  public nonisolated static var current: Application? {
    let shared = SharedObject.current
    let reference = shared as? SimulatedReference ?? SimulatedReference.ofPresentCode
    return shared as? Application ?? reference?.application ?? adopted.withLock { $0 }
  }

  /// Makes an application ``shared`` for the whole program.
  ///
  /// The `main` that `@main` supplies calls this method. A program with its own `main` calls it before its host runs.
  ///
  /// The process of an adopted application is that of the program. So when the application has ended, it ignores the
  /// inputs that would launch it again, such as an `open` that arrived during its end.
  ///
  /// - Parameter application: the application, which is retained until another one is adopted.
  public static func adopt(_ application: Application) {
    // The former application may be released here; its deinitializer must not run under the lock.
    let former = adopted.withLock { adopted in
      defer { adopted = application }
      return adopted
    }
    withExtendedLifetime(former) {}
  }

  /// Whether the application is the one that was adopted last.
  var isAdopted: Bool { Self.adopted.withLock { $0 } === self }

  /// Runs a body in which an application is ``shared``; for tests.
  ///
  /// The application takes precedence over an adopted one. Parallel tests do not see each other's application.
  ///
  /// Handlers that run while the body posts see the application. So do tasks that the body starts, even after the body
  /// has returned. An asynchronous handler sees the application that was shared where the handler was subscribed. Tasks
  /// that were started earlier keep the application that they saw.
  ///
  /// - Parameters:
  ///   - application: the application that becomes ``shared``.
  ///   - body: the code to run.
  /// - Returns: the value that the body returns.
  /// - Throws: the error that the body throws.
  public static func withShared<Result>(
    _ application: Application, _ body: () throws -> Result
  ) rethrows -> Result {
    try SharedObject.$current.withValue(application, operation: body)
  }

  /// Runs an asynchronous body in which an application is ``shared``; for tests.
  ///
  /// The application takes precedence over an adopted one. Parallel tests do not see each other's application.
  ///
  /// Handlers that run while the body posts see the application. So do tasks that the body starts, even after the body
  /// has returned. An asynchronous handler sees the application that was shared where the handler was subscribed. Tasks
  /// that were started earlier keep the application that they saw.
  ///
  /// - Parameters:
  ///   - application: the application that becomes ``shared``.
  ///   - body: the code to run, on the main actor.
  /// - Returns: the value that the body returns.
  /// - Throws: the error that the body throws.
  public static func withShared<Result>(
    _ application: Application, _ body: @MainActor () async throws -> Result
  ) async rethrows -> Result {
    try await SharedObject.$current.withValue(application, operation: body)
  }
}
