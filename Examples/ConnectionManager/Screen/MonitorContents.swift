import AppLifecycle
import ExampleSupport

/// The contents of the screen, as a value, so that every size can be tested without a terminal.
struct MonitorContents: Hashable, Sendable {
  /// The server's name.
  let server: String
  /// The application's state.
  var state = ApplicationState.notRunning
  private(set) var resources: [ResourceHealth] = []
  private var log: [StyledLine] = []

  /// How many lines of the log are kept: more than any screen has rows.
  private static let mostLines = 500

  init(server: String) { self.server = server }

  /// Updates the status of a resource, and adds a line to the log unless the resource is idle or waits.
  mutating func note(_ resource: ResourceHealth, among all: [ResourceHealth]) {
    resources = all
    switch resource.status {
    case .idle, .waiting: break
    case .acquiring, .held: add(StyledLine("\(resource.name) \(resource.status)", .dim))
    case .releasing, .retrying, .failed: add(StyledLine("\(resource.name) \(resource.status)", .warning))
    }
  }

  /// Adds a message of the server to the log.
  mutating func add(_ message: String) { add(StyledLine(message)) }

  private mutating func add(_ line: StyledLine) { log = log.suffix(Self.mostLines - 1) + [line] }

  /// The lines of the screen: the resources, and the latest lines of the log, as many as there are rows left.
  func lines(rows: Int, columns: Int) -> [StyledLine] {
    let nameWidth = resources.map(\.name.count).max() ?? 0
    var lines = [StyledLine(server, .bold).adding(" · \(state.rawValue) · q quits, r tries again now")]
    for resource in resources {
      var line = StyledLine(resource.name)
      line.pad(to: nameWidth + 2)
      lines.append(line.adding(resource.text, resource.status == .held ? .accent : .warning))
    }
    lines.append("")
    lines += log.suffix(max(rows - lines.count, 0))
    lines += Array(repeating: "", count: max(rows - lines.count, 0))
    return lines.prefix(rows).map { $0.cut(to: columns) }
  }
}

extension ResourceHealth {
  /// The status as text, with the present error.
  fileprivate var text: String {
    let error = status == .held || status == .idle ? nil : lastError
    let wait = retryDelay.map { "; next attempt after \($0.rounded)" }
    return "\(status)" + (error.map { ": \($0)" } ?? "") + (wait ?? "")
  }
}
