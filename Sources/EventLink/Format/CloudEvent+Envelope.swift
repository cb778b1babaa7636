/// What the messages of a topic have in common: all but the number and the data of an event.
///
/// The attributes are written and escaped once.
struct Envelope: Sendable {
  /// The bytes before the number in the event's `id`, those up to its `sequence`, those up to its data, and those behind.
  private let parts: (id: [UInt8], sequence: [UInt8], data: [UInt8], end: [UInt8])

  /// Makes an envelope.
  ///
  /// - Parameters:
  ///   - topic: the topic, which an event's `id` begins with.
  ///   - source: the origin.
  ///   - type: the events' type.
  ///   - mediaType: the media type of data in base64; nil for JSON.
  init(topic: String, source: String, type: String, mediaType: String?) {
    let event = CloudEvent(id: LinkMachine.id(0, on: topic), source: source, type: type, number: 0)
    let bytes = event.encoded(with: [], mediaType: mediaType)
    // In a text, a quotation mark follows a backslash: these marks are nowhere else.
    guard let id = bytes.firstRange(of: #"#0",""#.utf8), let sequence = bytes.firstRange(of: #""sequence":"0""#.utf8)
    else { preconditionFailure("an event has its number twice") }
    let (idPlace, sequencePlace) = (id.lowerBound + 1, sequence.upperBound - 2)
    let end = bytes.count - (mediaType == nil ? 1 : 2)
    parts = (
      Array(bytes[..<idPlace]), Array(bytes[(idPlace + 1)..<sequencePlace]),
      Array(bytes[(sequencePlace + 1)..<end]), Array(bytes[end...])
    )
  }

  /// The message of an event, the same that ``CloudEvent/encoded(with:mediaType:)`` makes.
  func message(_ number: Int, with data: [UInt8]) -> [UInt8] {
    var digits = String(number)
    return digits.withUTF8 { digits in
      let count = parts.id.count + parts.sequence.count + parts.data.count + parts.end.count
      var bytes: [UInt8] = []
      bytes.reserveCapacity(count + 2 * digits.count + data.count)
      bytes += parts.id
      bytes += digits
      bytes += parts.sequence
      bytes += digits
      bytes += parts.data
      bytes += data
      bytes += parts.end
      return bytes
    }
  }
}
