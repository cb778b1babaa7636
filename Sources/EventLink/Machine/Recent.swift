/// A table of the values that were used lately; it forgets the others, so that foreign programs cannot make it grow.
///
/// It keeps at least `limit / 2` of the values that were used last, and at most `limit`.
struct Recent<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let limit: Int
  private var young: [Key: Value] = [:]
  private var old: [Key: Value] = [:]

  init(limit: Int) { self.limit = limit }

  /// The value of a key, which counts as used now if it is set.
  subscript(key: Key) -> Value? {
    get { young[key] ?? old[key] }
    set {
      young[key] = newValue
      if !old.isEmpty { old[key] = nil }
      guard young.count >= limit / 2 else { return }
      old = young
      young = [:]
    }
  }

  var keys: [Key] { Array(old.keys) + Array(young.keys) }
}
