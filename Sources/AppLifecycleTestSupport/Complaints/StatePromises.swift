import AppLifecycle

/// The rule that a process finds what the processes before it were told is saved.
///
/// What counts is what the program had as it asked, and not what the module SavedState took for changed: each value must come back
/// as it was then, or as a later save took it.
@MainActor final class StatePromises: StateWitness {
  private struct Promise {
    var value: String
    /// The number of the request.
    var request: Int
  }

  /// The number of requests so far; a save carries the number of the latest request before it.
  private var requests = 0
  /// What each request that was not answered would promise.
  private var asked: [Int: [StateValueName: String]] = [:]
  private var promises: [StateValueName: Promise] = [:]
  /// The values of the saves that began after the request of the present promise, or of an open one.
  private var taken: [(request: Int, values: [StateValueName: String])] = []
  /// The values that the present process has found; a second value of a name is no find.
  private var found: Set<StateValueName> = []
  /// Whether a crash explains that state is set aside.
  private let maySetAside: @MainActor () -> Bool
  private var complaints: [String] = []

  init(maySetAside: @escaping @MainActor () -> Bool) { self.maySetAside = maySetAside }

  /// Returns the complaints since the last call, in order.
  func takeComplaints() -> [String] {
    defer { complaints = [] }
    return complaints
  }

  func didAsk(toSave values: [StateValueName: String]) -> Int {
    requests += 1
    asked[requests] = values
    return requests
  }

  func didTake(_ values: [StateValueName: String]) { taken.append((requests, values)) }

  func didPromise(_ request: Int) {
    guard let values = asked.removeValue(forKey: request) else { return }
    for (name, value) in values { promises[name] = Promise(value: value, request: request) }
    let oldest = promises.values.map(\.request).min() ?? request
    taken.removeAll { $0.request < oldest }
  }

  func didRestore(_ find: StateFind) {
    (found, asked) = ([], [:])
    switch find {
    case .used: return
    case .refused: break
    case .unusable:
      if !maySetAside() { complaints.append("saved state was set aside, although the process before had not crashed") }
    }
    (promises, taken) = ([:], [])
  }

  func didFind(_ value: String, as name: StateValueName) {
    guard found.insert(name).inserted, let promise = promises[name] else { return }
    let isLater = taken.contains { $0.request >= promise.request && $0.values[name] == value }
    guard promise.value != value, !isLater else { return }
    let window = name.session.map { " of the window \($0)" } ?? ""
    complaints.append(
      "“\(name.key)”\(window) was acknowledged as saved: \(promise.value); the next process found \(value)")
  }

  func didForget(_ session: String) {
    promises = promises.filter { $0.key.session != session }
    found = found.filter { $0.session != session }
    for request in asked.keys { asked[request] = asked[request]?.filter { $0.key.session != session } }
  }
}
