/// The part of the local calendar that this file needs.
struct LocalCalendar: Sendable {
  /// Returns, for a time since 1970, the date as a number that differs between consecutive days, and the seconds east
  /// of Greenwich.
  var local: @Sendable (_ seconds: Int) -> (day: Int, offset: Int)

  /// Returns the first second after a given one with another date or another offset from Greenwich.
  ///
  /// Usually that is midnight; some days begin at one o'clock. It is never more than two days away.
  ///
  /// - Complexity: some twenty look-ups.
  func nextChange(after seconds: Int) -> Int {
    let present = local(seconds)
    // After a change of the date or the offset, both stay different for the rest of the search.
    var before = seconds
    var after = seconds + 48 * 3600
    while after - before > 1 {
      let middle = before + (after - before) / 2
      if local(middle) == present { before = middle } else { after = middle }
    }
    return after
  }
}
