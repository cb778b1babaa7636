/// A time that a user names: a length before now, or a date in the user's time zone.
enum Moment: Equatable {
  case ago(Duration)
  case at(Duration)

  /// Reads `10m`, `2h`, `1d`, `2026-11-21`, `2026-11-21T17:15` or `2026-11-21 17:15:11`; nil for anything else.
  init?(_ text: String) {
    if let unit = text.last, let seconds = ["s": 1, "m": 60, "h": 3_600, "d": 86_400][unit],
      let count = Int64(text.dropLast()), count >= 0, count < 1_000_000_000
    {
      self = .ago(.seconds(count * Int64(seconds)))
      return
    }
    let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "T" || $0 == " " }
    guard let date = parts.first.flatMap({ Self.numbers($0, separator: "-") }), date.count == 3 else { return nil }
    var time: [Int32] = [0, 0, 0]
    if parts.count == 2 {
      guard let given = Self.numbers(parts[1], separator: ":"), (2...3).contains(given.count) else { return nil }
      time.replaceSubrange(..<given.count, with: given)
    }
    var fields = tm()
    (fields.tm_year, fields.tm_mon, fields.tm_mday) = (date[0] - 1_900, date[1] - 1, date[2])
    (fields.tm_hour, fields.tm_min, fields.tm_sec, fields.tm_isdst) = (time[0], time[1], time[2], -1)
    let seconds = mktime(&fields)
    // A day that does not exist becomes another one.
    guard fields.tm_mday == date[2], fields.tm_mon == date[1] - 1, time[0] < 24, time[1] < 60, time[2] < 60 else {
      return nil
    }
    self = .at(.seconds(Int64(seconds)))
  }

  /// The time, since 1970 in UTC.
  func wallTime(now: Duration) -> Duration {
    switch self {
    case .ago(let duration): now - duration
    case .at(let time): time
    }
  }

  private static func numbers(_ text: Substring, separator: Character) -> [Int32]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part in part.allSatisfy { "0"..."9" ~= $0 } && part.count <= 4 ? Int32(part) : nil
    }
    return numbers.count == parts.count ? numbers : nil
  }
}
