/// How the restoration of state ended.
public enum RestorationOutcome: Sendable, Hashable {
  /// The values have what the process before has saved.
  case restored
  /// Nothing was saved, so the values have their defaults.
  case nothingThere
  /// The delegate did not want it; the state stays, until the next save replaces it.
  case refused
  /// The state is beside the place, for the reason given.
  ///
  /// `usesPrevious` tells whether the values have what was saved the time before; otherwise they have their defaults.
  case setAside(path: String, reason: String, usesPrevious: Bool)
  /// It cannot be read now; the first save, if the process may save, sets it aside, so that it is not lost.
  case unreadable(reason: String)
  /// What stands at the place is not this program's or version's; it is left alone, and nothing is saved.
  case leftAlone(reason: String)
}
