public import Foundation

/// The key of a value in a notification's `userInfo`, with the type of the value.
///
///     extension NotificationKey<Int> {
///       static var orderID: Self { "orderID" }
///     }
public struct NotificationKey<Value: Sendable>: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The key in `userInfo`, where it is a `String`.
  public let rawValue: String

  /// Makes a key from its text.
  ///
  /// - Parameter rawValue: the key in `userInfo`.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Makes a key from a literal.
  ///
  /// - Parameter value: the key in `userInfo`.
  public init(stringLiteral value: String) { self.init(rawValue: value) }
}

/// The contents of a notification's `userInfo`, with typed keys.
public struct NotificationInfo: @unchecked Sendable {
  /// The dictionary that observers find in the notification; its keys are strings.
  ///
  /// It has Foundation's type and room for the bridge's entry from the beginning, because a conversion would cost as
  /// much as a post. All values are `Sendable`: the subscript and the initializer require it.
  public private(set) var userInfo: [AnyHashable: Any]

  /// Makes empty contents.
  public init() { userInfo = [:] }

  /// Makes contents with one value.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - value: the value.
  public init<Value>(_ key: NotificationKey<Value>, _ value: Value) {
    userInfo = Dictionary(minimumCapacity: 2)
    userInfo[AnyHashable(key.rawValue)] = value
  }

  /// The value of a key; nil if there is none, or if it has another type.
  public subscript<Value>(_ key: NotificationKey<Value>) -> Value? {
    get { userInfo[key.rawValue] as? Value }
    set { userInfo[key.rawValue] = newValue }
  }
}

extension Notification {
  /// Returns the value of a typed key.
  ///
  /// - Parameter key: the key.
  /// - Returns: the value in `userInfo`.
  /// - Throws: ``NotificationMismatch`` if there is none, or if it has another type.
  public func value<Value>(for key: NotificationKey<Value>) throws(NotificationMismatch) -> Value {
    guard let found = userInfo?[key.rawValue] else { throw .missingValue(key: key.rawValue) }
    guard let value = found as? Value else {
      throw .wrongValue(key: key.rawValue, expected: "\(Value.self)", found: "\(type(of: found))")
    }
    return value
  }

  /// Returns the object as an instance of a class.
  ///
  /// - Parameter type: the class.
  /// - Returns: the object.
  /// - Throws: ``NotificationMismatch`` if there is none, or if it has another class.
  public func object<Object: AnyObject>(as type: Object.Type = Object.self) throws(NotificationMismatch) -> Object {
    guard let object = object as? Object else {
      throw .wrongObject(expected: "\(Object.self)", found: object.map { "\(Swift.type(of: $0))" })
    }
    return object
  }
}

/// The error that a notification is not a notification of the expected event.
public enum NotificationMismatch: Error, Hashable, Sendable, CustomStringConvertible {
  /// `userInfo` has no value for the key.
  case missingValue(key: String)
  /// The value of the key has another type.
  case wrongValue(key: String, expected: String, found: String)
  /// The object has another class, or there is none.
  case wrongObject(expected: String, found: String?)

  /// The error in words.
  public var description: String {
    switch self {
    case .missingValue(let key): "userInfo has no value for \"\(key)\""
    case .wrongValue(let key, let expected, let found):
      "userInfo has a value of type \(found) for \"\(key)\", and \(expected) is expected"
    case .wrongObject(let expected, let found?): "the object is a \(found), and \(expected) is expected"
    case .wrongObject(let expected, nil): "there is no object, and \(expected) is expected"
    }
  }
}
