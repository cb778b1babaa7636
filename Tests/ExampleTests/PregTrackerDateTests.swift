import Testing

@testable import PregTracker

@Suite struct PregTrackerDateTests {
  @Test func `A date is read and written as YYYY-MM-DD`() throws {
    for text in ["2026-06-25", "2024-02-29", "1583-01-01", "9999-12-31"] {
      #expect(try CivilDate(text).description == text)
    }
  }

  @Test(arguments: [
    "", "2026", "2026-6-25", "26-06-25", "2026-06-25 ", "+026-06-25", "2026/06/25", "２０２６-06-25", "today",
  ])
  func `A text that is no date names itself`(text: String) {
    #expect(throws: CivilDateError.malformed(text)) { try CivilDate(text) }
    #expect(CivilDateError.malformed(text).description == "“\(text)” is not a date; write YYYY-MM-DD")
  }

  @Test(arguments: ["2026-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "1582-10-15", "0000-01-01"])
  func `A day that does not exist names itself`(text: String) {
    #expect(throws: CivilDateError.noSuchDay(text)) { try CivilDate(text) }
    #expect(CivilDateError.noSuchDay(text).description == "“\(text)” is not a day of the calendar")
  }

  @Test func `A text that would turn the terminal is shown, not obeyed`() {
    #expect(CivilDateError.malformed("\u{1B}[2J").description == "“\\u{1B}[2J” is not a date; write YYYY-MM-DD")
  }

  @Test(arguments: [
    ("2026-06-25", "2026-06-25", 0), ("2026-02-28", "2026-03-01", 1), ("2024-02-28", "2024-03-01", 2),
    ("2025-12-31", "2026-01-01", 1), ("2026-01-01", "2025-12-31", -1), ("2026-03-28", "2026-03-30", 2),
    ("1900-01-01", "2000-01-01", 36_524),
  ])
  func `Days are counted over ends of months, leap days and changes to summer time`(from: String, to: String, days: Int)
    throws
  {
    #expect(try CivilDate(from).days(until: CivilDate(to)) == days)
    #expect(try CivilDate(from).advanced(by: days) == CivilDate(to))
  }
}

@Suite struct PregTrackerLabelTests {
  @Test(arguments: [
    (142, "Day 142 of 280 · week 20+2 · second trimester · 138 days to go"),
    (0, "Day 0 of 280 · week 0+0 · first trimester · 280 days to go"),
    (97, "Day 97 of 280 · week 13+6 · first trimester · 183 days to go"),
    (98, "Day 98 of 280 · week 14+0 · second trimester · 182 days to go"),
    (195, "Day 195 of 280 · week 27+6 · second trimester · 85 days to go"),
    (196, "Day 196 of 280 · week 28+0 · third trimester · 84 days to go"),
    (279, "Day 279 of 280 · week 39+6 · third trimester · 1 day to go"),
    (280, "Day 280 of 280 · week 40+0 · third trimester · due today"),
    (281, "Day 281 of 280 · week 40+1 · third trimester · 1 day past the due date"),
    (308, "Day 308 of 280 · week 44+0 · third trimester · 28 days past the due date"),
    (309, "The due date was 29 days ago"),
    (-1, "Day 0 of 280 is 1 day away · 281 days to go"),
    (-12, "Day 0 of 280 is 12 days away · 292 days to go"),
  ])
  func `The label has words for every day`(number: Int, label: String) {
    #expect(PregnancyDay(number: number).label == label)
  }

  @Test func `The due date is day 280`() throws {
    let due = try CivilDate("2026-06-25")
    #expect(PregnancyDay(due, due: due).number == 280)
    #expect(PregnancyDay(due.advanced(by: -138), due: due).number == 142)
    #expect(PregnancyDay(due.advanced(by: -280), due: due).number == 0)
    #expect(PregnancyDay(due.advanced(by: 3), due: due).number == 283)
  }

  @Test func `Progress stays between nothing and all`() {
    #expect([-5, 0, 140, 280, 300].map { PregnancyDay(number: $0).progress } == [0, 0, 0.5, 1, 1])
  }

  @Test func `A stopwatch counts only while it runs`() {
    var watch = Stopwatch()
    #expect(watch.elapsed(at: .seconds(5)) == .zero)
    watch.start(at: .seconds(10))
    watch.start(at: .seconds(11))
    #expect(watch.elapsed(at: .seconds(13)) == .seconds(3))
    watch.stop(at: .seconds(15))
    watch.stop(at: .seconds(90))
    #expect(watch.elapsed(at: .seconds(100)) == .seconds(5))
    watch.start(at: .seconds(200))
    #expect(watch.elapsed(at: .seconds(201)) == .seconds(6))
  }
}
