/// A day of a pregnancy, counted as obstetricians count.
///
/// Day 0 is the first day of the last period, 280 days (40 weeks) before the due date. `20+2` is 20 completed weeks and 2 days.
struct PregnancyDay: Hashable, Sendable {
  /// The due date's number.
  static let dueDay = 280
  /// The last day that is counted: no pregnancy lasts longer than 44 weeks.
  static let lastDay = 44 * 7

  /// The day's number; negative before day 0, above 280 past the due date.
  let number: Int

  init(number: Int) { self.number = number }

  init(_ today: CivilDate, due: CivilDate) { number = Self.dueDay - today.days(until: due) }

  var trimester: Trimester { Trimester(ofDay: number) }

  /// How far the pregnancy is, from 0 to 1.
  var progress: Double { Double(min(max(number, 0), Self.dueDay)) / Double(Self.dueDay) }

  /// The text of the label, which this program keeps up to date.
  var label: String {
    let remaining = Self.dueDay - number
    if number < 0 { return "Day 0 of 280 is \(days(-number)) away · \(days(remaining)) to go" }
    if number > Self.lastDay { return "The due date was \(days(-remaining)) ago" }
    let end =
      switch remaining {
      case 0: "due today"
      case 1...: "\(days(remaining)) to go"
      default: "\(days(-remaining)) past the due date"
      }
    return "Day \(number) of 280 · week \(number / 7)+\(number % 7) · \(trimester) · \(end)"
  }

  private func days(_ count: Int) -> String { count == 1 ? "1 day" : "\(count) days" }
}
