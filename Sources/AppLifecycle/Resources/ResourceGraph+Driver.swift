// What the graph asks of the driver.

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
}
