import LibC

/// A reading of the events that links send, whose attributes stand in a fixed order, without a general decoder.
///
/// Whatever is written in another way, by other programs, is left to the decoder. A decoder of JSON takes longer for the attributes than for the
/// data of a small event.
struct QuickReading {
  private let bytes: UnsafeRawBufferPointer
  private var place = 0

  private init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Reads an event; nil if it is written in another way.
  ///
  /// What is the same in the former event is taken from there: to make texts of bytes takes the most time.
  static func read(_ payload: [UInt8], after former: CloudEvent? = nil) -> CloudEvent? {
    payload.withUnsafeBytes { bytes in
      var reading = QuickReading(bytes)
      guard let places = reading.places(), let id = reading.text(places.id),
        let source = reading.text(places.source, or: former?.source),
        let type = reading.text(places.type, or: former?.type), !id.isEmpty, !source.isEmpty, !type.isEmpty,
        id.utf8.count + source.utf8.count + type.utf8.count <= 1_024
      else { return nil }
      var event = CloudEvent(id: id, source: source, type: type)
      if let sequence = places.sequence {
        guard let text = reading.text(sequence), let number = CloudEvent.number(text) else { return nil }
        event.number = number
      }
      // Where no number stands before the data, one may stand behind it.
      return places.data == nil || event.number != nil ? event : nil
    }
  }

  /// The place of the data of an event that can be read; nil if there is none, or the event is written in another way.
  static func data(of payload: [UInt8]) -> Range<Int>? {
    payload.withUnsafeBytes { bytes in
      var reading = QuickReading(bytes)
      return reading.places()?.data
    }
  }

  private typealias Places = (
    id: Range<Int>, source: Range<Int>, type: Range<Int>, sequence: Range<Int>?, data: Range<Int>?
  )

  private mutating func places() -> Places? {
    guard skip(#"{"specversion":"1.0","id":"#), let id = string(), skip(#","source":"#), let source = string(),
      skip(#","type":"#), let type = string()
    else { return nil }
    let isNumbered = skip(#","sequence":"#)
    let sequence = isNumbered ? string() : nil
    guard !isNumbered || sequence != nil, bytes.last == UInt8(ascii: "}") else { return nil }
    if place == bytes.count - 1 { return (id, source, type, sequence, nil) }
    guard skip(#","datacontenttype":"application/json","data":"#), place < bytes.count - 1 else { return nil }
    return (id, source, type, sequence, place..<bytes.count - 1)
  }

  private mutating func skip(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - place >= count, let base = bytes.baseAddress,
      memcmp(base + place, text.utf8Start, count) == 0
    else { return false }
    place += count
    return true
  }

  /// The text at a place, or a former one that is the same; nil if it is not UTF-8.
  private func text(_ place: Range<Int>, or former: String? = nil) -> String? {
    if let former, isText(at: place, former) { return former }
    // Not `String(validating:as:)`, which looks the types of its argument up at each call. Where this repairs text, the bytes differ.
    let bytes = UnsafeRawBufferPointer(rebasing: bytes[place])
    let text = String(decoding: bytes, as: UTF8.self)
    return isText(at: place, text) ? text : nil
  }

  private func isText(at place: Range<Int>, _ text: String) -> Bool {
    text.utf8.withContiguousStorageIfAvailable { text in
      guard text.count == place.count, let text = text.baseAddress, let bytes = bytes.baseAddress else { return false }
      return memcmp(text, bytes + place.lowerBound, place.count) == 0
    } ?? false
  }

  /// The place of a string in quotes without escapes and control characters.
  private mutating func string() -> Range<Int>? {
    guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else { return nil }
    var end = place + 1
    while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
      guard bytes[end] >= 0x20, bytes[end] != UInt8(ascii: "\\") else { return nil }
      end += 1
    }
    guard end < bytes.count else { return nil }
    defer { place = end + 1 }
    return place + 1..<end
  }
}
