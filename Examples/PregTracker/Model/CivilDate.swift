import ExampleSupport
import Foundation

/// A day of the calendar, such as a due date, with neither a time nor a time zone.
///
/// All arithmetic is Foundation's, in a Gregorian calendar fixed to GMT, where every day has 24 hours. So a change to
/// summer time or a journey never moves a due date.
struct CivilDate: Hashable, Sendable {
  let year: Int
  let month: Int
  let day: Int

  /// The valid years: four digits, and none before the Gregorian calendar.
  static let years = 1583...9999

  /// Reads `YYYY-MM-DD`, nothing else, and only days that exist.
  init(_ text: some StringProtocol) throws(CivilDateError) {
    let fields = text.split(separator: "-", omittingEmptySubsequences: false)
    guard fields.map(\.utf8.count) == [4, 2, 2], text.utf8.allSatisfy({ $0 == 0x2D || (0x30...0x39).contains($0) }),
      let year = Int(fields[0]), let month = Int(fields[1]), let day = Int(fields[2])
    else { throw .malformed(String(text)) }
    let components = DateComponents(calendar: Self.calendar, year: year, month: month, day: day)
    guard Self.years.contains(year), components.isValidDate else { throw .noSuchDay(String(text)) }
    (self.year, self.month, self.day) = (year, month, day)
  }

  /// The day on which an instant falls, in a calendar and its time zone.
  init(_ instant: Date, in calendar: Calendar) {
    let components = calendar.dateComponents([.year, .month, .day], from: instant)
    (year, month, day) = (components.year ?? 0, components.month ?? 0, components.day ?? 0)
  }

  /// The number of days from this one to another; negative if that one is earlier.
  func days(until other: CivilDate) -> Int {
    Self.calendar.dateComponents([.day], from: midnight, to: other.midnight).day ?? 0
  }

  /// The day that is so many days later.
  func advanced(by days: Int) -> CivilDate {
    Self.calendar.date(byAdding: .day, value: days, to: midnight).map { CivilDate($0, in: Self.calendar) } ?? self
  }

  private var midnight: Date {
    Self.calendar.date(from: DateComponents(year: year, month: month, day: day)) ?? .distantPast
  }

  private static let calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return calendar
  }()
}

extension CivilDate: CustomStringConvertible {
  /// `YYYY-MM-DD`.
  var description: String {
    func padded(_ number: Int, to width: Int) -> String {
      String(repeating: "0", count: max(0, width - String(number).count)) + String(number)
    }
    return "\(padded(year, to: 4))-\(padded(month, to: 2))-\(padded(day, to: 2))"
  }
}

/// Why a text is no date; the description names the text.
enum CivilDateError: Error, Equatable, CustomStringConvertible {
  case malformed(String)
  case noSuchDay(String)

  var description: String {
    switch self {
    case .malformed(let text): "“\(text.escaped)” is not a date; write YYYY-MM-DD"
    case .noSuchDay(let text): "“\(text.escaped)” is not a day of the calendar"
    }
  }
}

/// Encoded as its text.
extension CivilDate: Codable {
  init(from decoder: any Decoder) throws { self = try CivilDate(decoder.singleValueContainer().decode(String.self)) }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
