import AppLifecycle
import Foundation

/// Events as a table: a heading for each launch, and below it a line for each event.
struct EventTable {
  /// A launch and the events after it, up to the end of its process.
  private struct Launch {
    var first: RecordedEvent
    var last: RecordedEvent
    var rows: [Row]
  }

  /// One event: the call of the delegate, and the notification after it.
  private struct Row {
    var name: String
    var time: Date
    var delegate: ApplicationState?
    var notification: ApplicationState?
  }

  private var launches: [Launch] = []
  private let calendar: Calendar
  private let isRunning: (Int32) -> Bool

  /// Creates a table.
  ///
  /// - Parameters:
  ///   - events: in the order of the file.
  ///   - calendar: the calendar and time zone of the times.
  ///   - isRunning: whether a process of this number exists.
  init(
    _ events: [RecordedEvent], calendar: Calendar = .autoupdatingCurrent,
    isRunning: @escaping (Int32) -> Bool = { kill($0, 0) == 0 || errno == EPERM }
  ) {
    (self.calendar, self.isRunning) = (calendar, isRunning)
    for event in events { add(event) }
  }

  private mutating func add(_ event: RecordedEvent) {
    let isLaunch = event.name == ApplicationCallback.willFinishLaunching.shortName
    // The events of two programs that run at the same time are interleaved in the file.
    guard !isLaunch, let index = launches.lastIndex(where: { $0.first.process == event.process }) else {
      launches.append(Launch(first: event, last: event, rows: []))
      return addRow(event, to: launches.endIndex - 1)
    }
    launches[index].last = event
    addRow(event, to: index)
  }

  private mutating func addRow(_ event: RecordedEvent, to index: Int) {
    switch event.place {
    case .delegate:
      launches[index].rows.append(Row(name: event.name, time: event.time, delegate: event.state))
    case .notification:
      guard let row = launches[index].rows.last, row.name == event.name, row.notification == nil else {
        return launches[index].rows.append(Row(name: event.name, time: event.time, notification: event.state))
      }
      launches[index].rows[launches[index].rows.endIndex - 1].notification = event.state
    }
  }

  /// The lines of the table.
  var lines: [String] {
    guard !launches.isEmpty else { return ["no launch is recorded yet"] }
    return launches.enumerated().flatMap { index, launch in
      (index == 0 ? [] : [""]) + [heading(launch, number: index + 1), Self.header] + launch.rows.map(line)
    }
  }

  private static let header = columns("TIME", "EVENT", "DELEGATE", "NOTIFICATION")

  private func heading(_ launch: Launch, number: Int) -> String {
    "launch \(number), \(day(launch.first.time)), process \(launch.first.process): \(end(launch))"
  }

  /// The end of a launch, as far as a list of events can show it. (`LifecycleJournal` of this package knows more.)
  private func end(_ launch: Launch) -> String {
    if launch.last.name == ApplicationCallback.willTerminate.shortName { return "it ended with willTerminate" }
    if isRunning(launch.first.process) { return "it runs" }
    return "it vanished without a call, last seen \(launch.last.state)"
  }

  private func line(_ row: Row) -> String {
    Self.columns(timeOfDay(row.time), row.name, row.delegate?.rawValue ?? "–", row.notification?.rawValue ?? "–")
  }

  private static func columns(_ time: String, _ name: String, _ delegate: String, _ notification: String) -> String {
    "  " + pad(time, 10) + pad(name, 36) + pad(delegate, 12) + notification
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  private func day(_ time: Date) -> String { digits(time, [.year, .month, .day], "-") }
  private func timeOfDay(_ time: Date) -> String { digits(time, [.hour, .minute, .second], ":") }

  private func digits(_ time: Date, _ units: [Calendar.Component], _ separator: String) -> String {
    units.map { unit in
      let number = calendar.component(unit, from: time)
      return number < 10 ? "0\(number)" : "\(number)"
    }.joined(separator: separator)
  }
}
