internal import Scheduling

extension Application {
  private static var adopted: Application?

  /// The program's application.
  ///
  /// On the main actor, it is the first of these applications that exists:
  ///
  /// 1. the application of the innermost `withShared(_:_:)` that encloses the task;
  /// 2. the application that was adopted last (``adopt(_:)``); a host's `main` adopts its application before it makes
  ///    the first callback.
  ///
  /// Few components need this property. Delegate calls pass the application, and the events of the life cycle, of
  /// resources and of a terminal carry it.
  ///
  /// - Precondition: one of the two applications exists. Otherwise the program ends with a message that says what to
  ///   do.
  public static var shared: Application {
    if let application = SharedObject.current as? Application ?? adopted { return application }
    // A release build omits the message of a precondition, so use fatalError.
    fatalError(
      """
      there is no shared application. A program gets one from the `main` of its delegate, or calls Application.adopt(_:) before \
      its host runs. A test calls its code inside Application.withShared(application) { … }
      """)
  }

  /// Makes an application ``shared`` for the whole program.
  ///
  /// The `main` that `@main` supplies calls this method. A program with its own `main` calls it before its host runs.
  ///
  /// The process of an adopted application is that of the program. So when the application has ended, it ignores the
  /// inputs that would launch it again, such as an `open` that arrived during its end.
  ///
  /// - Parameter application: the application, which is retained until another one is adopted.
  public static func adopt(_ application: Application) { adopted = application }

  /// Whether the application is the one that was adopted last.
  var isAdopted: Bool { Self.adopted === self }

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
