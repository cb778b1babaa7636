import Dispatch

/// What a descriptor can be waited for.
package enum Readiness {
  case readable, writable

  /// Returns when the descriptor is ready, or when the task is cancelled.
  ///
  /// The thread is free meanwhile. Not isolated, as the handlers run on a thread of libdispatch's.
  package func wait(for descriptor: CInt) async {
    // Unsafe in name only: a source may be cancelled from any thread.
    nonisolated(unsafe) let source: any DispatchSourceProtocol =
      switch self {
      case .readable: DispatchSource.makeReadSource(fileDescriptor: descriptor)
      case .writable: DispatchSource.makeWriteSource(fileDescriptor: descriptor)
      }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        source.setEventHandler { source.cancel() }
        // The only place that resumes: it runs once, and from then on libdispatch has let go of the descriptor.
        source.setCancelHandler { continuation.resume() }
        source.activate()
      }
    } onCancel: {
      source.cancel()
    }
  }
}
