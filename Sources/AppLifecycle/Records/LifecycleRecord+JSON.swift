extension LifecycleRecord {
  /// The record as one line of JSON, without the line's end.
  ///
  ///     {"t":0.0,"kind":"delegate","name":"applicationDidBecomeActive","state":"active","scene":null,"cause":"launch"}
  ///
  /// The fields always come in this order; an ignored input has one more, `reason`. `t` is in seconds, an exact decimal with
  /// at least one digit after the point.
  public var jsonLine: String {
    var line = "{\"t\":\(instant.decimalSeconds),\"kind\":\(kind.rawValue.asJSON),\"name\":\(name.asJSON)"
    line +=
      ",\"state\":\(state.rawValue.asJSON),\"scene\":\(scene?.asJSON ?? "null"),\"cause\":\(cause.rawValue.asJSON)"
    if let reason { line += ",\"reason\":\(reason.asJSON)" }
    return line + "}"
  }
}

extension LifecycleRecord: Decodable {
  private enum Field: String, CodingKey { case t, kind, name, state, scene, cause, reason }

  /// Reads what ``jsonLine`` has written, with any decoder; fields that the format does not have are passed over.
  ///
  /// The time is read to the nanosecond, as exactly as a decoder's floating-point numbers tell it: up to a hundred days.
  ///
  /// - Throws: `DecodingError` where a field is missing, or has another type or an unknown value.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Field.self)
    let seconds = try fields.decode(Double.self, forKey: .t)
    guard seconds.magnitude < 9.0e18 else {
      throw DecodingError.dataCorruptedError(forKey: .t, in: fields, debugDescription: "a time beyond all clocks")
    }
    let whole = seconds.rounded(.towardZero)
    let nanoseconds = ((seconds - whole) * 1_000_000_000).rounded()
    self.init(
      instant: .seconds(Int64(whole)) + .nanoseconds(Int64(nanoseconds)),
      kind: try fields.decode(Kind.self, forKey: .kind),
      name: try fields.decode(String.self, forKey: .name),
      state: try fields.decode(ApplicationState.self, forKey: .state),
      scene: try fields.decodeIfPresent(String.self, forKey: .scene),
      cause: LifecycleCause(rawValue: try fields.decode(String.self, forKey: .cause)),
      reason: try fields.decodeIfPresent(String.self, forKey: .reason))
  }
}

extension [LifecycleRecord] {
  /// The records as JSON Lines: one object a line, each line ended.
  public var jsonLines: String { map { $0.jsonLine + "\n" }.joined() }
}

extension Duration {
  /// The duration in seconds, exact, with at least one digit after the point: `0.0`, `0.5`, `86400.0`.
  package var decimalSeconds: String {
    let (seconds, attoseconds) = components
    var (fraction, width) = (attoseconds.magnitude, 18)
    while width > 1, fraction.isMultiple(of: 10) {
      fraction /= 10
      width -= 1
    }
    let digits = String(fraction)
    let zeros = String(repeating: "0", count: width - digits.utf8.count)
    return "\(self < .zero ? "-" : "")\(seconds.magnitude).\(zeros)\(digits)"
  }
}

extension String {
  /// The text as a JSON string, in quotes.
  package var asJSON: String {
    let isPlain = utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    return isPlain ? "\"\(self)\"" : escapedAsJSON
  }

  private var escapedAsJSON: String {
    var json = "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": json += "\\\""
      case "\\": json += "\\\\"
      case "\n": json += "\\n"
      case "\r": json += "\\r"
      case "\t": json += "\\t"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: json.unicodeScalars.append(scalar)
      }
    }
    return json + "\""
  }
}
