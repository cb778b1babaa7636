import ExampleSupport
import Testing

@testable import PregTracker

@Suite struct PregTrackerOptionsTests {
  @Test func `Every option is read, its value after it or after an equals sign`() throws {
    let options = try Options([
      "--due", "2026-06-25", "--state=/tmp/a=b", "--today-file", "today", "--tips", "[::1]:4040", "--stale", "--script",
      "launch; home",
    ])
    #expect(options.dueDate == (try CivilDate("2026-06-25")))
    #expect(options.stateDirectory == "/tmp/a=b")
    #expect(options.todayPath == "today")
    #expect(options.tips == Endpoint(host: "::1", port: 4040))
    #expect(options.isStale)
    #expect(options.script == "launch; home")
    #expect(try Options(["--journal", "runs.jsonl"]).journalPath == "runs.jsonl")
    #expect(try Options([]) == Options(["--state=x"]).without(\.stateDirectory))
  }

  @Test(arguments: [
    (["--bogus"], "unknown option “--bogus”"),
    (["2026-06-25"], "unknown option “2026-06-25”"),
    (["--due"], "--due wants a value"),
    (["--due", "2026-02-30"], "--due: “2026-02-30” is not a day of the calendar"),
    (["--due=soon"], "--due: “soon” is not a date; write YYYY-MM-DD"),
    (["--tips", "localhost"], "--tips: “localhost” is not HOST:PORT"),
    (["--stale=yes"], "--stale takes no value"),
    (["--journal"], "--journal wants a value"),
    (["--journal=a", "--script=launch"], "--journal is for a run in a terminal; a script prints its record"),
  ])
  func `A mistake is named`(arguments: [String], message: String) {
    #expect(throws: Options.Mistake(description: message)) { try Options(arguments) }
  }

  @Test(arguments: [
    ("tips.example:4040", "tips.example", 4040), ("127.0.0.1:1", "127.0.0.1", 1),
    ("[2001:db8::7]:65535", "2001:db8::7", 65535),
  ])
  func `An endpoint is a host and a port`(text: String, host: String, port: UInt16) {
    let endpoint = Endpoint(text)
    #expect(endpoint == Endpoint(host: host, port: port))
    #expect(endpoint?.description == text)
  }

  @Test(arguments: [
    "", ":", "host", "host:", ":80", "host:0", "host:65536", "host:http", "::1:80", "[]:80", "a b:80", "[::1]",
  ])
  func `What is no endpoint is refused`(text: String) {
    #expect(Endpoint(text) == nil)
  }
}

extension Options {
  fileprivate func without(_ path: WritableKeyPath<Options, String?>) -> Options {
    var options = self
    options[keyPath: path] = nil
    return options
  }
}
