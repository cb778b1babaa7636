internal import Scheduling

/// The name of an event type, for subscriptions by name and for messages.
public struct EventName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The name as text.
  public let rawValue: String

  /// Makes a name from text.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Makes a name from a literal.
  public init(stringLiteral value: String) { self.init(rawValue: value) }

  /// The name as text.
  public var description: String { rawValue }
}

extension EventName {
  private static let cache = Guarded<[ObjectIdentifier: EventName]>([:])

  /// The name of a type without its module and addresses, cached in the process: making it takes microseconds.
  static func ofType(_ type: any EventBus.Event.Type) -> EventName {
    let key = ObjectIdentifier(type)
    if let known = cache.withLock({ $0[key] }) { return known }
    let name = EventName(rawValue: withoutModule(String(reflecting: type)))
    cache.withLock { $0[key] = name }
    return name
  }

  /// Removes from a reflected name the module, and the addresses in the names of private and local types:
  /// `Module.(unknown context at $55d0).Local` becomes `Local`.
  static func withoutModule(_ reflected: String) -> String {
    var rest = Substring(reflected)
    if rest.hasPrefix("(extension in "), let colon = rest.firstIndex(of: ":") {
      rest = rest[rest.index(after: colon)...]
    }
    if let dot = rest.firstIndex(of: ".") { rest = rest[rest.index(after: dot)...] }
    var name = ""
    while let open = rest.firstRange(of: "(unknown context at ") {
      guard let close = rest[open.upperBound...].firstIndex(of: ")") else { break }
      name += rest[..<open.lowerBound]
      rest = rest[rest.index(after: close)...].drop { $0 == "." }
    }
    return name + rest
  }
}
