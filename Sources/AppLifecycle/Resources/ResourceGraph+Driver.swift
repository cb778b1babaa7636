// What the driver reports to the graph, and what the graph asks of the driver.

extension ResourceGraph {
  /// An action for the driver.
  enum Action: Hashable {
    case acquire(Int)
    case cancelAcquire(Int)
    case release(Int)
    case retry(Int, failures: Int)
    case cancelRetry(Int)
    /// Forget a resource that is no longer managed and not held; its index is free after ``ResourceGraph/recycle(_:)``.
    case forget(Int)
  }

  /// An event of one resource.
  enum Event: Hashable {
    case acquired(Int)
    case failedToAcquire(Int)
    case released(Int)
    case retryIsDue(Int)
    /// No retry follows, although the policy allows one.
    case retryWasGivenUp(Int)
    /// A held resource has become ready.
    case becameReady(Int)

    var index: Int {
      switch self {
      case .acquired(let index), .failedToAcquire(let index), .released(let index), .retryIsDue(let index),
        .retryWasGivenUp(let index), .becameReady(let index):
        index
      }
    }
  }
}
