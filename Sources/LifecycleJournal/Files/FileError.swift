/// The error of a system call.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The system's `errno`.
  public let number: Int32

  /// Makes an error from its `errno`.
  ///
  /// - Parameter number: the system's `errno`.
  public init(number: Int32) { self.number = number }

  /// The system's description of the error.
  public var description: String { systemText(of: number) }
}
