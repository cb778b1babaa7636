import AppLifecycle
import JSONReading

/// An event of CloudEvents 1.0 in its JSON format, without its data.
struct CloudEvent: Sendable, Hashable {
  /// Names the event among those of its source.
  var id: String
  /// The origin.
  var source: String
  /// The name of the event, or one of ``Control``.
  var type: String
  /// The number of the event on its topic, or what a program without a link counts; nil if there is none.
  var number: Int?

  /// The types of the messages that links send one another.
  enum Control: String {
    /// All numbers up to this one have been sent.
    case head = "swift-app-lifecycle.link.head"
    /// The numbers from ``CloudEvent/firstOfGap`` up to this one cannot be had any more.
    case gap = "swift-app-lifecycle.link.gap"
    /// A receiver asks for the numbers that follow this one on the topic that `id` names.
    case request = "swift-app-lifecycle.link.request"
  }

  var control: Control? { Control(rawValue: type) }

  /// The number that a link has given the event; nil for an event of a program without a link, which may count in another way.
  ///
  /// A link's `id` ends with the number, also behind a bridge that renames topics. No text is made of the number: each event is asked.
  var numberOfLink: Int? {
    guard let number, control == nil else { return number }
    var (rest, end) = (number, id.utf8[...])
    repeat {
      guard end.popLast() == UInt8(ascii: "0") + UInt8(rest % 10) else { return nil }
      rest /= 10
    } while rest > 0
    return end.last == UInt8(ascii: "#") ? number : nil
  }

  /// The `id` of a gap, which has its first number.
  static func id(ofGap numbers: ClosedRange<Int>, on topic: String) -> String {
    "\(topic)#gap-\(numbers.lowerBound)-\(numbers.upperBound)"
  }

  /// The first number of a gap; 1 if its `id` does not say.
  var firstOfGap: Int {
    let parts = id.split(separator: "-")
    return parts.count > 1 ? Int(parts[parts.count - 2]) ?? 1 : 1
  }
}

extension CloudEvent {
  /// The event with its data: JSON, or base64 of something that has another media type, or none.
  func encoded(with data: [UInt8]? = nil, mediaType: String? = nil) -> [UInt8] {
    var json = JSONBytes()
    json.append(#"{"specversion":"1.0","id":"#)
    json.append(string: id)
    json.append(#","source":"#)
    json.append(string: source)
    json.append(#","type":"#)
    json.append(string: type)
    if let number {
      json.append(#","sequence":"#)
      json.append(string: String(number))
    }
    guard let data else {
      json.append("}")
      return Array(json.bytes)
    }
    if let mediaType {
      json.append(#","datacontenttype":"#)
      json.append(string: mediaType)
      json.append(#","data_base64":""#)
    } else {
      json.append(#","datacontenttype":"application/json","data":"#)
    }
    let end = mediaType == nil ? "}" : #""}"#
    var bytes: [UInt8] = []
    bytes.reserveCapacity(json.count + data.count + end.utf8.count)
    bytes.append(contentsOf: json.bytes)
    bytes.append(contentsOf: data)
    bytes.append(contentsOf: end.utf8)
    return bytes
  }

  private struct Attributes: Decodable {
    let specversion: String
    let id: String
    let source: String
    let type: String
    let sequence: String?
  }

  private struct WithData<Value: Decodable>: Decodable { let data: Value }

  /// Reads the attributes of an event, faster if the former one is of the same origin and type; throws what is wrong with it.
  init(_ payload: [UInt8], after former: CloudEvent? = nil) throws(LinkFormatError) {
    if let event = QuickReading.read(payload, after: former) {
      self = event
      return
    }
    let attributes: Attributes
    do { attributes = try Data(payload).decodedJSON(as: Attributes.self) } catch {
      throw LinkFormatError("it is no event of CloudEvents in JSON: \(LinkFormatError.text(of: error))")
    }
    guard attributes.specversion == "1.0" else {
      throw LinkFormatError("it is of version \(attributes.specversion.cut(toScalars: 20)) of CloudEvents, and not 1.0")
    }
    guard !attributes.id.isEmpty, !attributes.source.isEmpty, !attributes.type.isEmpty,
      (attributes.source + attributes.id + attributes.type).utf8.count <= 1_024
    else { throw LinkFormatError("its id, source or type is empty or too long") }
    (id, source, type) = (attributes.id, attributes.source, attributes.type)
    number = attributes.sequence.flatMap { Self.number($0) }
  }

  /// The number that the extension `sequence` has; it allows any text, of which only whole numbers count.
  static func number(_ text: String) -> Int? { Int(text).flatMap { (0..<Int.max / 2).contains($0) ? $0 : nil } }

  /// Encodes the data of an event.
  static func data(of event: some Encodable) throws -> [UInt8] { Array(try event.encodedJSON()) }

  /// Decodes the data of a payload that is such an event.
  static func data<Value: Decodable>(of payload: [UInt8], as type: Value.Type) throws(LinkFormatError) -> Value {
    if let place = QuickReading.data(of: payload), let value = try? Data(payload[place]).decodedJSON(as: type) {
      return value
    }
    do { return try Data(payload).decodedJSON(as: WithData<Value>.self).data } catch {
      throw LinkFormatError("its data is no \(type): \(LinkFormatError.text(of: error))")
    }
  }
}

/// What is wrong with a payload.
struct LinkFormatError: Error, Sendable, Hashable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// An error of the decoder, without what the payload itself says.
  static func text(of error: any Error) -> String {
    // The keys of a dictionary are the payload's.
    func path(_ keys: [any CodingKey]) -> String {
      keys.map(\.stringValue).joined(separator: ".").cut(toScalars: 200)
    }
    func name(_ type: Any.Type) -> String {
      type == [String: Any].self ? "object" : type == [Any].self ? "array" : "\(type)"
    }
    return switch error {
    case DecodingError.keyNotFound(let key, let context):
      "“\(path(context.codingPath + [key]))” is missing"
    case DecodingError.typeMismatch(let type, let context):
      "“\(path(context.codingPath))” is no \(name(type))"
    case DecodingError.valueNotFound(let type, let context):
      "“\(path(context.codingPath))” is null, and no \(name(type))"
    case DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty:
      "“\(path(context.codingPath))” is damaged"
    default: "the JSON is damaged"
    }
  }
}
