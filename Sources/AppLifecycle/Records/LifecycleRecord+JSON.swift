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

extension [LifecycleRecord] {
  /// The records as JSON Lines: one object in each line, and each line with a line end.
  package var jsonLines: String { map { $0.jsonLine + "\n" }.joined() }
}
