import ExampleSupport
import Foundation

/// Where the calendar's today comes from.
///
/// It is asked at each use: a day that is remembered is a day that goes stale.
struct Today: Sendable {
  let read: @Sendable () throws -> CivilDate

  /// The system's calendar, in its present time zone.
  static let system = Today { CivilDate(Date(), in: .autoupdatingCurrent.gregorian) }

  /// A file that holds today as `YYYY-MM-DD`, for tests and demonstrations.
  static func file(_ path: String) -> Today {
    Today {
      let text = String(decoding: try File.read(path, limit: 64), as: UTF8.self)
      do throws(CivilDateError) {
        return try CivilDate(text.trimmingCharacters(in: .whitespacesAndNewlines))
      } catch {
        throw SystemError(path, "\(error)")
      }
    }
  }

  /// The same calendar, so many days ahead: how a simulated clock moves it.
  func advanced(by days: @escaping @Sendable () -> Int) -> Today {
    Today { try read().advanced(by: days()) }
  }
}

extension Calendar {
  /// A due date is written in the Gregorian calendar, also where people's own calendar is another; the zone is theirs.
  fileprivate var gregorian: Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    return calendar
  }
}
