public import AppLifecycle

extension LifecycleRecord {
  /// Makes the record that `LifecycleRecord.jsonLine` has encoded, exactly; nil if the text is anything else.
  ///
  /// Unknown fields are ignored.
  ///
  /// - Parameter jsonLine: the text, without a line end.
  public init?(jsonLine: String) {
    var text = jsonLine
    guard case .success(.record(let record)) = text.withUTF8(JournalLine.read) else { return nil }
    self = record
  }

  init?(_ object: JSONObject) {
    guard let instant = object.duration("t"), let kind = object.string("kind").flatMap(Kind.init(rawValue:)),
      let name = object.string("name"), let state = object.string("state").flatMap(ApplicationState.init(rawValue:)),
      let scene = object.optionalString("scene"), let cause = object.string("cause"),
      let reason = object.optionalString("reason")
    else { return nil }
    self.init(
      instant: instant, kind: kind, name: name, state: state, scene: scene, cause: LifecycleCause(rawValue: cause),
      reason: reason)
  }
}
