/// A budget that was overrun.
public struct BudgetOverrun: Sendable, Hashable {
  /// An operation that a budget limits outside a tear-down.
  package enum Operation: String, Sendable, Hashable, CaseIterable {
    /// The acquire of a resource.
    case acquire
    /// The release of a resource.
    case release
    /// The end of a body.
    case end
  }

  /// The callback whose budget was overrun, also by an operation outside a tear-down that this budget limits.
  public var callback: ApplicationCallback
  /// The length of the budget, from the beginning of the delegate call or of the operation.
  public var budget: Duration
  /// The names of the code that overran the budget: methods of the delegate, labels or source positions of subscribers,
  /// names of resources.
  public var culprits: [String]
  /// The operation that was late outside a tear-down, such as a release after a break; nil for a budget of the callback
  /// itself.
  package var operation: Operation?
  /// The reason why the culprits may have had no thread to run on; nil if threads were free.
  package var threadShortage: ThreadShortage?

  /// Creates an overrun.
  package init(
    callback: ApplicationCallback, budget: Duration, culprits: [String], operation: Operation? = nil,
    threadShortage: ThreadShortage? = nil
  ) {
    self.callback = callback
    self.budget = budget
    self.culprits = culprits
    self.operation = operation
    self.threadShortage = threadShortage
  }
}

extension BudgetOverrun: CustomStringConvertible {
  /// The overrun as text: `applicationDidEnterBackground overran its 5 s: feed`, or, outside a tear-down, `release of feed
  /// overran its 5 s`.
  public var description: String {
    let names = culprits.joined(separator: ", ")
    let shortage = threadShortage.map { " (\($0.rawValue))" } ?? ""
    return operation.map { "\($0.rawValue) of \(names) overran its \(budget.inSeconds)\(shortage)" }
      ?? "\(callback.rawValue) overran its \(budget.inSeconds): \(names)\(shortage)"
  }
}
