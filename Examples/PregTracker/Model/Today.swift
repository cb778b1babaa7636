import ExampleSupport
import Foundation

/// The source of the present calendar day.
///
/// Components read it at each use: a stored day would go stale.
struct Today: Sendable {
  let read: @Sendable () throws -> CivilDate

  /// The system's calendar, in its present time zone.
  static let system = Today { CivilDate(Date(), in: .autoupdatingCurrent.gregorian) }

  /// A file that holds today as `YYYY-MM-DD`, for tests and demonstrations.
  static func file(_ path: String) -> Today {
    Today {
      guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { throw SystemError(path) }
      do throws(CivilDateError) {
        return try CivilDate(text.trimmingCharacters(in: .whitespacesAndNewlines))
      } catch {
        throw SystemError(path, "\(error)")
      }
    }
  }

  /// This source, moved a number of days ahead, as a simulated clock does.
  func advanced(by days: @escaping @Sendable () -> Int) -> Today {
    Today { try read().advanced(by: days()) }
  }
}

extension Calendar {
  /// The Gregorian calendar, in the user's time zone: due dates are written in it, whatever calendar the user has.
  fileprivate var gregorian: Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    return calendar
  }
}
