/// Numbers the lines of source on which plain subscriptions are made, so that each keeps a number instead of its position.
///
/// Guarded by the bus's lock. Programs have few such lines, and run through the same ones again and again.
struct SiteTable {
  private struct Site: Hashable {
    let fileID: String
    let line: Int
  }

  private var sites: [Site] = []
  private var numbers: [Site: UInt16] = [:]
  /// For each line modulo the table's size the number of the site last asked for; finds nearly all, without hashing.
  private var latest = [UInt16](repeating: 0, count: 64)

  /// The number of a line; nil once there are more than can be numbered.
  mutating func number(_ fileID: String, _ line: Int) -> UInt16? {
    let place = line & (latest.count - 1)
    let known = Int(latest[place])
    // Texts that are one and the same literal are found equal at once.
    if known > 0, sites[known - 1].line == line, sites[known - 1].fileID == fileID { return latest[place] }
    let number = self.number(of: Site(fileID: fileID, line: line))
    if let number { latest[place] = number }
    return number
  }

  private mutating func number(of site: Site) -> UInt16? {
    if let number = numbers[site] { return number }
    guard let number = UInt16(exactly: sites.count + 1) else { return nil }
    sites.append(site)
    numbers[site] = number
    return number
  }

  /// The subscriber on a line.
  func subscriber(at number: UInt16) -> Subscriber {
    let site = sites[Int(number) - 1]
    return Subscriber(label: nil, fileID: site.fileID, line: site.line)
  }
}
