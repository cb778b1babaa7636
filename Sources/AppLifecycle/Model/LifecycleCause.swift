/// What led to a transition: an action of the script language, or a host's own word such as `SIGTERM`.
public struct LifecycleCause: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The cause as text, for people and records.
  public let rawValue: String

  /// A cause of any name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A cause of any name, from a literal.
  public init(stringLiteral value: String) { self.init(rawValue: value) }

  /// The cause that an input is by itself.
  public init(_ input: SystemInput) { self.init(rawValue: input.scriptToken) }
}
