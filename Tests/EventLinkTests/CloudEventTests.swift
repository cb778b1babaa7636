import Scheduling
import Testing

@testable import EventLink

@Suite struct `An event of CloudEvents` {
  /// The quick reading and the decoder agree about whatever the quick one takes.
  @Test func `is read the same way by both readers (10)`() throws {
    let seed = UInt64.random(in: 0 ... .max)
    print("events of CloudEvents: SEED=\(seed)")
    var random = SplitMix64(seed: seed)
    let event = CloudEvent(id: "a/b#7", source: "0123456789abcdef", type: "OrderPlaced", number: 7)
    let original = event.encoded(with: Array(#"{"id":[1,2,{"x":"}"}]}"#.utf8))
    #expect(QuickReading.read(original) == event)
    var taken = 0
    for _ in 0..<3_000 {
      var payload = original
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        let place = Int.random(in: payload.indices, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: payload[place] = UInt8.random(in: 32...127, using: &random)
        case 1: payload.remove(at: place)
        default: payload.insert(payload.randomElement(using: &random) ?? 0, at: place)
        }
      }
      guard let quick = QuickReading.read(payload) else { continue }
      // A space makes the quick reading refuse it.
      guard let general = try? CloudEvent([UInt8(ascii: " ")] + payload) else { continue }
      taken += 1
      #expect(quick == general, "\(String(decoding: payload, as: UTF8.self))")
    }
    #expect(taken > 500)
  }

  /// The decoder knows UTF-16 and UTF-32, and 513 brackets are one more than it takes.
  @Test(arguments: [[0x5B, 0], [0, 0x5B], [0x5B, 0, 0, 0], [0, 0, 0, 0x5B]] as [[UInt8]])
  func `is rejected in UTF-16 and UTF-32, and so is its data (11)`(bracket: [UInt8]) {
    let event = CloudEvent(id: "1", source: "s", type: "T", number: 1)
    for mark in [[], [0xFF, 0xFE], [0xFE, 0xFF]] as [[UInt8]] {
      let payload = mark + Array(repeatElement(bracket, count: 513).joined())
      #expect(throws: LinkFormatError.self) { try CloudEvent(payload) }
      #expect(throws: LinkFormatError.self) {
        try CloudEvent.data(of: event.encoded(with: payload), as: OrderPlaced.self)
      }
    }
  }

  /// The decoder looks for the place of its error in the line, one byte behind a carriage return.
  @Test(arguments: [("[", "["), (#"{"a":"#, "["), (#"{"a":"#, "{")])
  func `is rejected with brackets before a carriage return, and so is its data (11)`(level: String, last: String) {
    let event = CloudEvent(id: "1", source: "s", type: "T", number: 1)
    for depth in 510...515 {
      let payload = Array((String(repeating: level, count: depth - 1) + last + "\r").utf8)
      #expect(throws: LinkFormatError.self) { try CloudEvent(payload) }
      #expect(throws: LinkFormatError.self) {
        try CloudEvent.data(of: event.encoded(with: payload), as: OrderPlaced.self)
      }
    }
  }

  @Test func `keeps any text in its attributes`() throws {
    for text in ["\"", "\\", "\u{0}\u{1F}", "ü", "\u{85}", "a\nb", "🜂"] {
      let event = CloudEvent(id: text, source: text, type: text, number: 0)
      #expect(try CloudEvent(event.encoded()) == event)
      #expect(try CloudEvent(event.encoded(with: Array("null".utf8))) == event)
    }
  }

  /// The last one, a character that is cut off, is as long as the character that stands for it in repaired text.
  @Test(arguments: [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x98]] as [[UInt8]])
  func `is rejected if an attribute is not UTF-8 (11)`(bytes: [UInt8]) throws {
    let event = CloudEvent(id: "1", source: "s", type: "T", number: 1)
    for attribute in ["1", "s", "T"] {
      var payload = event.encoded(with: Array("null".utf8))
      let text = Array("\"\(attribute)\"".utf8)
      let place = try #require(payload.indices.first { payload[$0...].starts(with: text) })
      payload.replaceSubrange(place + 1...place + 1, with: bytes)
      #expect(QuickReading.read(payload) == nil)
      #expect(throws: LinkFormatError.self) { try CloudEvent(payload) }
    }
  }

  @Test func `may be written in another way`() throws {
    let payload =
      #"{ "data" : {"id": 5}, "type":"T","source":"s","id":"1","specversion":"1.0","time":"x","sequence":"3"}"#
    #expect(try CloudEvent(Array(payload.utf8)) == CloudEvent(id: "1", source: "s", type: "T", number: 3))
    #expect(try CloudEvent.data(of: Array(payload.utf8), as: OrderPlaced.self).id == 5)
    let extended =
      #"{"specversion":"1.0","id":"1","source":"s","type":"T","datacontenttype":"application/json","data":{"id":5},"x":1}"#
    #expect(try CloudEvent.data(of: Array(extended.utf8), as: OrderPlaced.self).id == 5)
    let late =
      #"{"specversion":"1.0","id":"1","source":"s","type":"T","datacontenttype":"application/json","data":{"id":5},"sequence":"3"}"#
    #expect(try CloudEvent(Array(late.utf8)).number == 3)
  }

  @Test func `has data as a coding writes it, in base64 unless it is JSON (10)`() throws {
    struct Unreadable: Error {}
    func coding(_ mediaType: String?) -> EventLink.Coding<OrderPlaced> {
      .init(mediaType: mediaType) {
        Array("[\($0.id)]".utf8)
      } decode: { bytes in
        guard let id = Int(String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)) else { throw Unreadable() }
        return OrderPlaced(id: id)
      }
    }
    let event = CloudEvent(id: "1", source: "s", type: "OrderPlaced", number: 1)
    for (mediaType, data) in [(nil, #""data":[5]}"#), ("text/plain", #""data_base64":"WzVd"}"#)] {
      let coding = coding(mediaType)
      let decode = CloudEvent.decoder(coding)
      let payload = event.encoded(with: try CloudEvent.encoder(coding)(OrderPlaced(id: 5)), mediaType: mediaType)
      #expect(String(decoding: payload, as: UTF8.self).hasSuffix(data))
      #expect(try CloudEvent(payload) == event)
      #expect(try decode(payload).id == 5)
      let damaged = event.encoded(with: Array((mediaType == nil ? "[x]" : "W3hd").utf8), mediaType: mediaType)
      #expect(throws: LinkFormatError.self) { try decode(damaged) }
      // What another program has written in JSON is read by the type's own conformance.
      let foreign = #"{ "specversion":"1.0","id":"1","source":"s","type":"T","data":{"id":6}}"#
      #expect(try decode(Array(foreign.utf8)).id == 6)
    }
  }

  @Test(arguments: ["ticks", #"a"b\c#0","\u{1}\u{7F}é"#, #""sequence":"0"#, #"\"#])
  func `an envelope holds the same bytes as an event that is written alone`(topic: String) {
    for (type, mediaType) in [("Tick", nil), (#""sequence":"0""#, "text/plain"), ("é", #"a"b"#)] {
      let envelope = Envelope(topic: topic, source: "here", type: type, mediaType: mediaType)
      for number in [0, 7, 1_000_000, .max / 2] {
        let data = Array("\(number)".utf8)
        let event = CloudEvent(id: LinkMachine.id(number, on: topic), source: "here", type: type, number: number)
        #expect(envelope.message(number, with: data) == event.encoded(with: data, mediaType: mediaType))
      }
    }
  }

  @Test func `the texts of the event before it do not change an event`() throws {
    let events = ["a", "ab", "é"].flatMap { source in
      ["T", "", "Type"].map { CloudEvent(id: "1", source: source, type: $0, number: 1) }
    }
    for former in events {
      for event in events where !event.type.isEmpty { #expect(try CloudEvent(event.encoded(), after: former) == event) }
    }
  }
}
