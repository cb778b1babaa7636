extension LifecycleStateMachine {
  /// Whether inputs bring the application into the foreground before they end its process.
  ///
  /// Inputs that arrive after the process ended start a new one.
  ///
  /// - Parameter inputs: the inputs that follow, in order.
  /// - Returns: whether the application reaches the foreground before its process ends.
  func comesBack(with inputs: [LifecycleInput]) -> Bool {
    guard state.isInMemory else { return false }
    var future = self
    for input in inputs {
      _ = future.handle(input)
      if !future.state.isInMemory { return false }
      if future.state.isForeground { return true }
    }
    return false
  }
}
