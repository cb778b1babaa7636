extension LifecycleRecord {
  /// The record as one line of JSON, without the line end.
  ///
  ///     {"t":0.0,"kind":"delegate","name":"applicationDidBecomeActive","state":"active","scene":null,"cause":"launch"}
  ///
  /// The fields always come in this order. An ignored input has one more field, `reason`. `t` is in seconds, an exact
  /// decimal with at least one digit after the point.
  public var jsonLine: String {
    var json = JSONBytes()
    json.append(self)
    return json.text
  }
}

extension JSONBytes {
  /// Appends a record, without a line end.
  package mutating func append(_ record: LifecycleRecord) {
    append("{\"t\":")
    append(seconds: record.instant)
    append(",\"kind\":\"")
    append(plain: record.kind.rawValue)
    append("\",\"name\":")
    append(string: record.name)
    append(",\"state\":\"")
    append(plain: record.state.rawValue)
    append("\",\"scene\":")
    append(string: record.scene)
    append(",\"cause\":")
    append(string: record.cause.rawValue)
    if let reason = record.reason {
      append(",\"reason\":")
      append(string: reason)
    }
    append("}")
  }
}

extension LifecycleRecord: Decodable {
  private enum Field: String, CodingKey { case t, kind, name, state, scene, cause, reason }

  /// Decodes a record that ``jsonLine`` has encoded; ignores unknown fields.
  ///
  /// Any decoder may be used. The time is exact to the nanosecond for times up to a hundred days, a limit of the
  /// decoder's floating-point numbers.
  ///
  /// - Parameter decoder: the decoder to read from.
  /// - Throws: `DecodingError` if a field is missing, or has another type or an unknown value.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Field.self)
    let seconds = try fields.decode(Double.self, forKey: .t)
    guard seconds.magnitude < 9.0e18 else {
      throw DecodingError.dataCorruptedError(forKey: .t, in: fields, debugDescription: "the time is out of range")
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
  /// The records as JSON Lines: one object in each line, and each line with a line end.
  public var jsonLines: String { map { $0.jsonLine + "\n" }.joined() }
}
