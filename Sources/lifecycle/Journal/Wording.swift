import AppLifecycle
import LifecycleJournal

// The tool's format for times, lengths, and names from outside.

extension Duration {
  /// The time since 1970 as date and time of day in the user's time zone: `2026-11-21 17:15:11`.
  var localDateTime: String {
    let parts = parts(isLocal: true)
    return "\(parts.date) \(parts.time)"
  }

  /// The time of day in the user's time zone, with milliseconds: `17:15:11.042`.
  var localTime: String { timeOfDay(isLocal: true) }

  /// The time since a beginning: `00:00:05.000`, and after a day `1d 00:00:05.000`.
  var timeSinceBeginning: String {
    let (seconds, attoseconds) = components
    let ofDay = Duration(secondsComponent: seconds % 86_400, attosecondsComponent: attoseconds)
    return (seconds < 86_400 ? "" : "\(seconds / 86_400)d ") + ofDay.timeOfDay(isLocal: false)
  }

  /// The time of day, in the user's time zone or in UTC.
  private func timeOfDay(isLocal: Bool) -> String {
    let milliseconds = Int(components.attoseconds.magnitude / 1_000_000_000_000_000)
    return "\(parts(isLocal: isLocal).time).\(String(milliseconds).leftPadded(to: 3, with: "0"))"
  }

  /// The offset of the user's time zone from UTC at that time.
  var secondsEastOfGreenwich: Int { calendarTime(isLocal: true).tm_gmtoff }

  private func calendarTime(isLocal: Bool) -> tm {
    // A damaged file may hold times before 1970, or beyond all calendars.
    var seconds = time_t(clamping: min(max(components.seconds, 0), 253_402_300_799))
    var time = tm()
    if isLocal { localtime_r(&seconds, &time) } else { gmtime_r(&seconds, &time) }
    return time
  }

  private func parts(isLocal: Bool) -> (date: String, time: String) {
    let parts = calendarTime(isLocal: isLocal)
    func two(_ number: Int32) -> String { String(number).leftPadded(to: 2, with: "0") }
    return (
      "\(parts.tm_year + 1_900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))",
      "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
    )
  }

  /// The length as text, with at most two units: `350ms`, `4.2s`, `3m 05s`, `2h 03m`, `5d 01h`.
  var brief: String {
    if self < .zero { return "-" + (.zero - self).brief }
    func two(_ number: Int64) -> String { String(number).leftPadded(to: 2, with: "0") }
    let seconds = components.seconds
    let milliseconds = components.attoseconds / 1_000_000_000_000_000
    switch seconds {
    case 0: return milliseconds == 0 ? "0s" : "\(milliseconds)ms"
    case 1..<60: return "\(seconds).\(milliseconds / 100)s"
    case 60..<3_600: return "\(seconds / 60)m \(two(seconds % 60))s"
    case 3_600..<86_400: return "\(seconds / 3_600)h \(two(seconds % 3_600 / 60))m"
    default: return "\(seconds / 86_400)d \(two(seconds % 86_400 / 3_600))h"
    }
  }
}

extension RunSummary {
  /// Whether only a script has played the run, so that no process can have ended.
  var isOnlyRecorded: Bool { header == nil && !isOfNewerVersion }

  /// What stands for the program and its process if no header names them.
  var nameWithoutHeader: String { isOfNewerVersion ? "a run of a newer version" : "a recorded run" }
}

/// The rows of a table as lines: each column is as wide as its longest text.
func table(_ rows: [[String]]) -> [String] {
  let widths: [Int: Int] = rows.reduce(into: [:]) { widths, row in
    for (column, text) in row.enumerated() { widths[column] = max(widths[column] ?? 0, text.count) }
  }
  return rows.map { row in
    let texts = row.dropLast().enumerated().map { $1.rightPadded(to: widths[$0] ?? 0) }
    return (texts + row.suffix(1)).joined(separator: "  ")
  }
}
