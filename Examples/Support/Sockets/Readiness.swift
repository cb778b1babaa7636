import Dispatch

/// The condition for which a task waits at a descriptor: readable or writable.
package enum Readiness {
  case readable, writable

  /// Returns when the descriptor is ready, or when the task is cancelled.
  ///
  /// The thread is free meanwhile. Not isolated, as the handlers run on a libdispatch thread.
  package func wait(for descriptor: CInt) async {
    // `unsafe` is safe here: a source may be cancelled from any thread.
    nonisolated(unsafe) let source: any DispatchSourceProtocol =
      switch self {
      case .readable: DispatchSource.makeReadSource(fileDescriptor: descriptor)
      case .writable: DispatchSource.makeWriteSource(fileDescriptor: descriptor)
      }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        source.setEventHandler { source.cancel() }
        // Only this handler resumes the task: it runs once, when libdispatch no longer uses the descriptor.
        source.setCancelHandler { continuation.resume() }
        source.activate()
      }
    } onCancel: {
      source.cancel()
    }
  }
}
