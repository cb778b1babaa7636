/// What went wrong as state was restored or saved.
public enum SavedStateError: Error, Sendable, Hashable {
  /// A key is empty, or longer than 255 bytes.
  case invalidKey(String)
  /// Two places want values of one key that differ in type or version.
  case conflict(key: String, first: String, second: String)
  /// A value cannot be encoded; the others are saved, and the file keeps the value that it had before.
  case notEncoded(key: String, reason: String)
  /// A value in the file cannot be decoded; an older form or the default is used.
  ///
  /// The value stays in the file beside the one that this program saves. Of each key and version the file keeps the
  /// latest four such values.
  case notDecoded(key: String, reason: String)
  /// A file cannot be read, so that nothing is restored from it; the next save gives it another name first.
  case notRead(path: String, reason: String)
  /// A file cannot be replaced or locked; what was saved before stays.
  case notWritten(path: String, reason: String)
  /// The present state is not kept: another program's file stands at the place, another process writes it, or the delegate said no.
  case notKept(reason: String)
  /// State that was found is not used; it has another name now.
  case setAside(path: String, reason: String)
}

extension SavedStateError: CustomStringConvertible {
  /// A sentence that names the key or the file.
  public var description: String {
    switch self {
    case .invalidKey(let key):
      key.isEmpty ? "a key is empty" : "the key “\(key.prefix(40))…” has \(key.utf8.count) bytes, more than 255"
    case .conflict(let key, let first, let second):
      "“\(key)” has two values that differ: \(first); and \(second)"
    case .notEncoded(let key, let reason): "“\(key)” is not saved: \(reason)"
    case .notDecoded(let key, let reason): "“\(key)” is not restored, and kept in the file: \(reason)"
    case .notRead(let path, let reason): "\(path): \(reason); the state is not restored"
    case .notWritten(let path, let reason): "\(path): \(reason); the state is not saved"
    case .notKept(let reason): "the state is not saved: \(reason)"
    case .setAside(let path, let reason): "state was set aside as \(path): \(reason)"
    }
  }
}
