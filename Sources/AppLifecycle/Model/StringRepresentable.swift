/// A value that is nothing but a text, such as a name, and can be written as a literal.
public protocol StringRepresentable: RawRepresentable<String>, Hashable, Sendable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// Creates a value from any text.
  init(rawValue: String)
}

extension StringRepresentable {
  /// Creates a value from a literal.
  public init(stringLiteral value: String) { self.init(rawValue: value) }

  /// The text.
  public var description: String { rawValue }
}
