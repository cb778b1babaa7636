// As much of swift-service-context's `ServiceContextModule`, which `Tracing` exports, as the documentation's listings use: names,
// labels, isolation and results as in swift-service-context 1.3.0, of which they were read.

/// What goes along with a request: here only the span in which it is.
package struct ServiceContext: Sendable {
  @TaskLocal package static var current: ServiceContext?

  package static var topLevel: ServiceContext { ServiceContext() }

  /// The name of the span in which code runs, and those around it.
  ///
  /// Not of the library.
  var path: [String] = []

  package static func withValue<T>(_ value: ServiceContext?, operation: () throws -> T) rethrows -> T {
    try $current.withValue(value, operation: operation)
  }

  package static func withValue<T>(
    _ value: ServiceContext?, isolation: isolated (any Actor)? = #isolation, operation: () async throws -> T
  ) async rethrows -> T {
    try await $current.withValue(value, operation: operation)
  }
}
