import AppLifecycle

/// Follows the statuses of managed resources: each acquire that succeeds is followed by one release, or by the loss of the process.
///
/// A pure value.
struct HeldResources {
  /// The names of the resources that are held.
  private var held: Set<String> = []
  /// Those that were held and are so no longer, without a release; whether a lost process explains that is seen later.
  private var vanished: Set<String> = []
  private var complaints: [RunComplaint] = []

  /// Takes the next status of a resource.
  mutating func take(_ status: ResourceStatus, of name: String) {
    switch status {
    case .held:
      if !held.insert(name).inserted {
        complaints.append(RunComplaint(.resource, "“\(name)” was acquired, and is held already"))
      }
    case .releasing: held.remove(name)
    case .idle, .waiting, .acquiring, .retrying, .failed: if held.remove(name) != nil { vanished.insert(name) }
    }
  }

  /// The process has ended: what it held and had not released, in order of name.
  mutating func loseProcess() -> [String] {
    defer { (held, vanished) = ([], []) }
    return held.union(vanished).sorted()
  }

  /// The complaints since this was last called, in order.
  mutating func takeComplaints() -> [RunComplaint] {
    defer { complaints = [] }
    return complaints
  }
}
