import PseudoTerminal
import TestTraits
import Testing

/// A view model that was written for UIKit, in a terminal under a shell with job control.
@Suite(.timeLimit(.hang)) struct `A view model of UIKit` {
  @Test func `is refreshed by Ctrl-Z and fg`() async throws {
    try await withTemporaryDirectory { directory in
      let today = directory.file("today")
      try directory.write("2027-01-01T00:00:00Z", to: "today")
      try await Shell.bash.run { terminal in
        terminal.line("\(builtProduct("DueDate")) \(today)")
        try await terminal.waitForScreen("the label of the first day") { $0.lines.first == "190 days along" }
        terminal.control("Z")
        try await terminal.prompt()
        try directory.write("2027-01-11T00:00:00Z", to: "today")
        terminal.line("fg")
        try await terminal.waitForScreen("the label of ten days later") { $0.lines.first == "200 days along" }
        terminal.send("q")
        try await terminal.prompt()
        #expect(try await terminal.status(in: .bash) == 0)
      }
    }
  }
}
