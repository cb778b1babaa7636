import AppLifecycle

/// Follows the statuses of managed resources, and checks that each successful acquire is followed by one release or by
/// the loss of the process.
///
/// A pure value.
struct HeldResources {
  /// The names of the resources that are held.
  private var held: Set<String> = []
  /// The resources that are no longer held, without a release; a lost process may explain that later.
  private var vanished: Set<String> = []
  private var complaints: [RunComplaint] = []

  /// Takes the next status of a resource.
  mutating func take(_ status: ResourceStatus, of name: String) {
    switch status {
    case .held:
      if !held.insert(name).inserted {
        complaints.append(RunComplaint(.resource, "“\(name)” was acquired while it was already held"))
      }
    case .releasing: held.remove(name)
    case .idle, .waiting, .acquiring, .retrying, .failed: if held.remove(name) != nil { vanished.insert(name) }
    }
  }

  /// Notes that the process has ended; returns the resources that it had not released, in order of name.
  mutating func loseProcess() -> [String] {
    defer { (held, vanished) = ([], []) }
    return held.union(vanished).sorted()
  }

  /// Returns the complaints since the last call, in order.
  mutating func takeComplaints() -> [RunComplaint] {
    defer { complaints = [] }
    return complaints
  }
}
