public import AppLifecycle

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

extension [LifecycleRecord] {
  /// The records as JSON Lines: one object a line, each line ended.
  public var jsonLines: String { map { $0.jsonLine + "\n" }.joined() }
}

extension Duration {
  /// The duration in seconds, exact, with at least one digit after the point: `0.0`, `0.5`, `86400.0`.
  var decimalSeconds: String {
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
  fileprivate var asJSON: String {
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
