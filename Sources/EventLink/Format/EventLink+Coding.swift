import JSONReading
public import PubSub

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
    ///   - encode: returns an event's data, called on a thread of the link. For JSON it must return one JSON value.
    ///   - decode: makes an event of its data; of JSON that another program has written, `Decodable` may be used instead.
    public init(
      mediaType: String? = nil, encode: @escaping @Sendable (E) throws -> [UInt8],
      decode: @escaping @Sendable ([UInt8]) throws -> E
    ) {
      (self.mediaType, self.encode, self.decode) = (mediaType, encode, decode)
    }
  }
}

extension CloudEvent {
  private struct WithBytes: Decodable { let data_base64: String }

  /// Encodes the data of an event.
  static func data<E: EventBus.Event & Encodable>(of event: E, _ coding: EventLink.Coding<E>?) throws -> [UInt8] {
    guard let coding else { return try data(of: event) }
    let bytes = try coding.encode(event)
    return coding.mediaType == nil ? bytes : Array(Data(bytes).base64EncodedString().utf8)
  }

  /// Decodes the data of a payload that is such an event.
  static func data<E: EventBus.Event & Decodable>(
    of payload: [UInt8], as type: E.Type, _ coding: EventLink.Coding<E>?
  ) throws(LinkFormatError) -> E {
    guard let coding else { return try data(of: payload, as: type) }
    var bytes: [UInt8]?
    if coding.mediaType == nil {
      bytes = QuickReading.data(of: payload).map { Array(payload[$0]) }
    } else if let written = try? Data(payload).decodedJSON(as: WithBytes.self) {
      bytes = Data(base64Encoded: written.data_base64).map { Array($0) }
    }
    guard let bytes else { return try data(of: payload, as: type) }
    do { return try coding.decode(bytes) } catch {
      // Attributes that another program has written behind the data are not part of it.
      if coding.mediaType == nil, let event = try? data(of: payload, as: type) { return event }
      throw LinkFormatError("its data is no \(type): \(error)")
    }
  }
}
