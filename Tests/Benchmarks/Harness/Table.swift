/// Writes what was measured as a table for a terminal of 120 columns.
///
/// The first judgement of a workload stands on the workload's own line, further ones on lines below.
package enum Table {
  private static let figureWidth = 8
  private static let tail = (figure: 6, bound: 7, aim: 7, verdict: 8)

  /// The lines of a section's table, its heading among them.
  package static func lines(_ section: Section, _ results: Results) -> [String] {
    let rowWidth = results.rows.map(\.count).max() ?? 0
    let unitWidth = 1 + (section.judgements.map(\.unit.count).max() ?? 0)
    var lines = [section.title]
    var heading = "".padded(to: rowWidth)
    for column in results.columns { heading += column.aligned(to: figureWidth) }
    if !section.judgements.isEmpty {
      heading += "ratio".aligned(to: tail.figure) + "".padded(to: unitWidth) + "bound".aligned(to: tail.bound)
      heading += "aim".aligned(to: tail.aim) + "verdict".aligned(to: tail.verdict)
    }
    lines.append(heading)
    for row in results.rows {
      var line = row.padded(to: rowWidth)
      for column in results.columns {
        line += (results.median(row, column).map(format) ?? "–").aligned(to: figureWidth)
      }
      for judgement in section.judgements where judgement.row == row {
        lines.append((line + cells(judgement, results, unitWidth)).withoutTrailingSpaces)
        line = "".padded(to: rowWidth + figureWidth * results.columns.count)
      }
      if !line.allSatisfy({ $0 == " " }) { lines.append(line.withoutTrailingSpaces) }
    }
    return lines
  }

  /// One judgement as a sentence.
  package static func sentence(_ section: Section, _ judgement: Judgement, _ results: Results) -> String {
    let figure = judgement.figure(in: results).map(format) ?? "not measured"
    return "\(section.name), \(judgement.row): \(figure) \(judgement.unit), must be "
      + "\(judgement.side.rawValue) \(format(judgement.bound))"
  }

  /// A figure with about three digits.
  package static func format(_ value: Double) -> String {
    switch value.magnitude {
    case 0: "0"
    case ..<10: fixed(value, digits: 2)
    case ..<100: fixed(value, digits: 1)
    case ..<100_000: fixed(value, digits: 0)
    case ..<100_000_000: fixed(value / 1_000, digits: 0) + "k"
    default: fixed(value / 1_000_000, digits: 0) + "M"
    }
  }

  private static func cells(_ judgement: Judgement, _ results: Results, _ unitWidth: Int) -> String {
    let side = judgement.side.rawValue
    return (judgement.figure(in: results).map(format) ?? "–").aligned(to: tail.figure)
      + (" " + judgement.unit).padded(to: unitWidth)
      + "\(side) \(format(judgement.bound))".aligned(to: tail.bound)
      + "\(side) \(format(judgement.aim))".aligned(to: tail.aim)
      + judgement.verdict(in: results).rawValue.aligned(to: tail.verdict)
  }

  private static func fixed(_ value: Double, digits: Int) -> String {
    let scale = [1, 10, 100][digits]
    let scaled = Int((value.magnitude * Double(scale)).rounded())
    let sign = value < 0 && scaled != 0 ? "-" : ""
    if digits == 0 { return "\(sign)\(scaled)" }
    let fraction = "\(scaled % scale)"
    return "\(sign)\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
  fileprivate func aligned(to width: Int) -> String { String(repeating: " ", count: max(1, width - count)) + self }
  fileprivate var withoutTrailingSpaces: String { String(reversed().drop { $0 == " " }.reversed()) }
}
