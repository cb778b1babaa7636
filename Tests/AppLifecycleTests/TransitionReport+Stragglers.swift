import AppLifecycle

extension TransitionReport {
  /// The names of the code that overran a budget, without duplicates.
  var stragglers: [String] {
    var seen: Set<String> = []
    return overruns.flatMap(\.culprits).filter { seen.insert($0).inserted }
  }
}
