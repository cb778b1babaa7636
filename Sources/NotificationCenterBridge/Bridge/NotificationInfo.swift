public import Foundation

/// The key of a value in a notification's `userInfo`, with the type of the value.
///
///     extension NotificationKey<Int> {
///       static var orderID: Self { "orderID" }
///     }
public struct NotificationKey<Value: Sendable>: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral {
  /// The key as it stands in `userInfo`, where it is a `String`.
  public let rawValue: String

  /// A key from its text.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A key from a literal.
  public init(stringLiteral value: String) { self.init(rawValue: value) }
}

/// The contents of a notification's `userInfo`, by typed keys.
public struct NotificationInfo: @unchecked Sendable {
  /// The dictionary that observers find in the notification; its keys are strings.
  ///
  /// In Foundation's form from the beginning, with room for a bridge's own entry: to convert it would cost as much as a post. All
  /// values are `Sendable`, as the subscript and the initializer ask for that.
  public private(set) var userInfo: [AnyHashable: Any]

  /// Nothing.
  public init() { userInfo = [:] }

  /// One value.
  public init<Value>(_ key: NotificationKey<Value>, _ value: Value) {
    userInfo = Dictionary(minimumCapacity: 2)
    userInfo[AnyHashable(key.rawValue)] = value
  }

  /// The value of a key; nil if there is none, or one of another type.
  public subscript<Value>(_ key: NotificationKey<Value>) -> Value? {
    get { userInfo[key.rawValue] as? Value }
    set { userInfo[key.rawValue] = newValue }
  }
}

extension Notification {
  /// The value of a typed key.
  ///
  /// - Parameter key: the key.
  /// - Returns: the value in `userInfo`.
  /// - Throws: ``NotificationMismatch`` if there is none, or one of another type.
  public func value<Value>(for key: NotificationKey<Value>) throws(NotificationMismatch) -> Value {
    guard let found = userInfo?[key.rawValue] else { throw .missingValue(key: key.rawValue) }
    guard let value = found as? Value else {
      throw .wrongValue(key: key.rawValue, expected: "\(Value.self)", found: "\(type(of: found))")
    }
    return value
  }

  /// The object, as an instance of a class.
  ///
  /// - Parameter type: the class.
  /// - Returns: the object.
  /// - Throws: ``NotificationMismatch`` if there is none, or one of another class.
  public func object<Object: AnyObject>(as type: Object.Type = Object.self) throws(NotificationMismatch) -> Object {
    guard let object = object as? Object else {
      throw .wrongObject(expected: "\(Object.self)", found: object.map { "\(Swift.type(of: $0))" })
    }
    return object
  }
}

/// A notification is not one of the event that was to be made of it.
public enum NotificationMismatch: Error, Hashable, Sendable, CustomStringConvertible {
  /// `userInfo` has no value of the key.
  case missingValue(key: String)
  /// The value of the key has another type.
  case wrongValue(key: String, expected: String, found: String)
  /// The object has another class, or there is none.
  case wrongObject(expected: String, found: String?)

  /// What is wrong, in words.
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
