public import AppLifecycle

extension LedgerEntry {
  /// The time at which the call ended, or the application stopped waiting for it, by the application's clock.
  public var ended: Duration { began + duration }

  /// The entry as one line of JSON, without the line feed.
  package var jsonLine: String {
    var line = "{\"journal\":\"entry\",\"t\":\(ended.decimalSeconds),\"began\":\(began.decimalSeconds)"
    line += ",\"kind\":\(kind.rawValue.asJSON),\"name\":\(label?.asJSON ?? "null")"
    line += ",\"source\":\(source?.asJSON ?? "null"),\"step\":\(step.asJSON)"
    line += ",\"outcome\":\(outcome.word.asJSON)"
    if case .failed(let error) = outcome { line += ",\"error\":\(error.asJSON)" }
    return line + "}"
  }

  init?(_ object: JSONObject) {
    guard let ended = object.duration("t"), let began = object.duration("began"), began <= ended,
      let kind = object.string("kind").flatMap(Kind.init(rawValue:)), let label = object.optionalString("name"),
      let source = object.optionalString("source"), let step = object.string("step"),
      let outcome = object.string("outcome").flatMap({ Outcome($0, error: object.string("error")) })
    else { return nil }
    var position: (fileID: String, line: Int)?
    if let source {
      guard let colon = source.lastIndex(of: ":"), let line = Int(source[source.index(after: colon)...]) else {
        return nil
      }
      position = (String(source[..<colon]), line)
    }
    self.init(
      kind, label: label, source: position, step: step, began: began, duration: ended - began, outcome: outcome)
  }
}

extension LedgerEntry.Outcome {
  /// The outcome's name in the format.
  package var word: String {
    switch self {
    case .completed: "completed"
    case .failed: "failed"
    case .cancelled: "cancelled"
    case .overran: "overran"
    case .neverEnded: "neverEnded"
    case .cutShort: "cutShort"
    case .usedAfterRelease: "usedAfterRelease"
    }
  }

  init?(_ word: String, error: String?) {
    let plain: [LedgerEntry.Outcome] = [
      .completed, .cancelled, .overran, .neverEnded, .cutShort, .usedAfterRelease,
    ]
    if word == "failed" {
      self = .failed(error ?? "")
    } else if let outcome = plain.first(where: { $0.word == word }) {
      self = outcome
    } else {
      return nil
    }
  }
}
