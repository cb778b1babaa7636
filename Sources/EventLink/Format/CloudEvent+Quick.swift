#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A reading of the events that links send, whose attributes stand in a fixed order, without a general decoder.
///
/// Whatever is written in another way, by other programs, is left to the decoder. A decoder of JSON takes longer for the attributes than for the
/// data of a small event.
struct QuickReading {
  private let bytes: UnsafeRawBufferPointer
  private var place = 0

  private init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Reads an event; nil if it is written in another way.
  static func read(_ payload: [UInt8]) -> CloudEvent? {
    payload.withUnsafeBytes { bytes in
      var reading = QuickReading(bytes)
      return reading.read()
    }
  }

  /// The place of the data of an event that can be read; nil if there is none, or the event is written in another way.
  static func data(of payload: [UInt8]) -> Range<Int>? {
    payload.withUnsafeBytes { bytes in
      var reading = QuickReading(bytes)
      return reading.dataRange()
    }
  }

  private mutating func read() -> CloudEvent? {
    guard skip(#"{"specversion":"1.0","id":"#), let id = string(), skip(#","source":"#), let source = string(),
      skip(#","type":"#), let type = string()
    else { return nil }
    var event = CloudEvent(id: id, source: source, type: type)
    if skip(#","sequence":"#) {
      guard let text = string(), let number = CloudEvent.number(text) else { return nil }
      event.number = number
    }
    guard !id.isEmpty, !source.isEmpty, !type.isEmpty, source.utf8.count + id.utf8.count + type.utf8.count <= 1_024,
      bytes.last == UInt8(ascii: "}")
    else { return nil }
    if place == bytes.count - 1 { return event }
    // Where no number stands before the data, one may stand behind it.
    guard event.number != nil, skip(#","datacontenttype":"application/json","data":"#), place < bytes.count - 1
    else { return nil }
    return event
  }

  private mutating func dataRange() -> Range<Int>? {
    guard skip(#"{"specversion":"1.0","id":"#), skipString(), skip(#","source":"#), skipString(),
      skip(#","type":"#), skipString()
    else { return nil }
    if skip(#","sequence":"#), !skipString() { return nil }
    guard skip(#","datacontenttype":"application/json","data":"#), place < bytes.count - 1,
      bytes.last == UInt8(ascii: "}")
    else { return nil }
    return place..<bytes.count - 1
  }

  private mutating func skip(_ text: StaticString) -> Bool {
    let count = text.utf8CodeUnitCount
    guard bytes.count - place >= count, let base = bytes.baseAddress,
      memcmp(base + place, text.utf8Start, count) == 0
    else { return false }
    place += count
    return true
  }

  /// A string in quotes without escapes and control characters.
  private mutating func string() -> String? {
    let start = place + 1
    guard skipString() else { return nil }
    return String(validating: bytes[start..<place - 1].bindMemory(to: UInt8.self), as: UTF8.self)
  }

  private mutating func skipString() -> Bool {
    guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else { return false }
    var end = place + 1
    while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
      guard bytes[end] >= 0x20, bytes[end] != UInt8(ascii: "\\") else { return false }
      end += 1
    }
    guard end < bytes.count else { return false }
    place = end + 1
    return true
  }
}
