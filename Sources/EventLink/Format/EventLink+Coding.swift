import JSONReading
public import PubSub

extension EventLink {
  /// How the data of an event is written, in the place of JSON by its `Codable` conformance.
  ///
  /// For data that other programs expect in a format of their own, and for events that are sent so often that a general coder takes too long.
  public struct Coding<E: EventBus.Event>: Sendable {
    let mediaType: String?
    let encode: @Sendable (E) throws -> [UInt8]
    let decode: @Sendable ([UInt8]) throws -> E

    /// Makes a coding.
    ///
    /// - Parameters:
    ///   - mediaType: the media type of the data, such as `application/protobuf`, which a message carries in base64; nil for JSON.
    ///   - encode: returns an event's data, called on a thread of the link, which may block SIGPIPE. For JSON it must return one JSON value.
    ///   - decode: makes an event of its data; of JSON that another program has written, `Decodable` may be used instead.
    public init(
      mediaType: String? = nil, encode: @escaping @Sendable (E) throws -> [UInt8],
      decode: @escaping @Sendable ([UInt8]) throws -> E
    ) {
      (self.mediaType, self.encode, self.decode) = (mediaType, encode, decode)
    }
  }
}

// Functions that hold those of a coding, and not the coding: the type of that would be looked up at each event.
extension CloudEvent {
  private struct WithBytes: Decodable { let data_base64: String }

  /// Returns what encodes the data of events.
  static func encoder<E: EventBus.Event & Encodable>(
    _ coding: EventLink.Coding<E>?
  ) -> @Sendable (E) throws -> [UInt8] {
    guard let coding else { return { event in try data(of: event) } }
    let encode = coding.encode
    if coding.mediaType == nil { return encode }
    return { event in Array(Data(try encode(event)).base64EncodedString().utf8) }
  }

  /// Returns what decodes the data of payloads that are such events.
  static func decoder<E: EventBus.Event & Decodable>(
    _ coding: EventLink.Coding<E>?
  ) -> @Sendable ([UInt8]) throws(LinkFormatError) -> E {
    guard let coding else {
      return { (payload: [UInt8]) throws(LinkFormatError) -> E in try data(of: payload, as: E.self) }
    }
    let (decode, isJSON) = (coding.decode, coding.mediaType == nil)
    return { (payload: [UInt8]) throws(LinkFormatError) -> E in
      let bytes = isJSON ? QuickReading.data(of: payload).map { Array(payload[$0]) } : base64Data(of: payload)
      guard let bytes else { return try data(of: payload, as: E.self) }
      do { return try decode(bytes) } catch { return try data(of: payload, isJSON, after: error) }
    }
  }

  private static func data<E: Decodable>(
    of payload: [UInt8], _ isJSON: Bool, after error: any Error
  ) throws(LinkFormatError) -> E {
    // Attributes that another program has written behind the data are not part of it.
    if isJSON, let event = try? data(of: payload, as: E.self) { return event }
    throw LinkFormatError("its data is no \(E.self): \(error)")
  }

  private static func base64Data(of payload: [UInt8]) -> [UInt8]? {
    let written = try? Data(payload).decodedJSON(as: WithBytes.self)
    return written.flatMap { Data(base64Encoded: $0.data_base64) }.map { Array($0) }
  }
}
