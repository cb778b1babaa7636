import AppLifecycle
import AppLifecycleTesting
import ExampleSupport
import Testing

@testable import ConnectionManager

@Suite struct ConnectionManagerReplyTests {
  private func replies(_ text: String) throws -> [Reply] {
    var parser = ReplyParser()
    return try parser.append(Array(text.utf8))
  }

  @Test func `Every kind of reply is read, and any other line is a text`() throws {
    #expect(
      try replies("+OK\r\n-ERR no\r\n:12\r\n$5\r\na\r\nb \r\n$-1\r\n*2\r\n+a\r\n*1\r\n:1\r\n\r\nhello you\n")
        == [
          .text("OK"), .error("ERR no"), .text("12"), .text("a\r\nb "), .text(""),
          .array([.text("a"), .array([.text("1")])]), .text("hello you"),
        ])
  }

  @Test func `Replies are the same, in whatever pieces they arrive`() throws {
    let text = "*3\r\n$7\r\nmessage\r\n+x\r\n$0\r\n\r\nplain\n-ERR\r\n"
    let whole = try replies(text)
    #expect(whole.count == 3)
    for size in 1...text.utf8.count {
      var parser = ReplyParser()
      var found: [Reply] = []
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        found += try parser.append(rest.prefix(size))
        rest = rest.dropFirst(size)
      }
      #expect(found == whole)
    }
  }

  @Test(arguments: [
    "$x\r\n", "*99999999\r\n", "$99999999999999999999\r\n", String(repeating: "*1\r\n", count: 10),
    String(repeating: "x", count: ReplyParser.limit + 1),
  ])
  func `A server that does not keep to the protocol is not believed`(text: String) {
    #expect(throws: ReplyParser.Malformed()) { try replies(text) }
  }

  @Test func `Pushes are told from answers, and say what they tell`() {
    func array(_ texts: String...) -> Reply { .array(texts.map(Reply.text)) }
    #expect(array("message", "news", "hello").message == "news hello")
    #expect(array("pmessage", "n*", "news", "hello").message == "news hello")
    #expect(array("punsubscribe", "n*", "0").message == nil)
    #expect(Reply.text("1795378615.012207 [0 127.0.0.1:60320] \"PING\"").isPush)
    for answer in [array("psubscribe", "n*", "1"), array("pong", ""), .array([]), .text("PONG"), .error("ERR [1")] {
      #expect(!answer.isPush)
    }
  }

  @Test @MainActor func `What ends a subscription follows from what began it`() {
    #expect(Subscription.opposite(of: "psubscribe a b") == "PUNSUBSCRIBE")
    #expect(Subscription.opposite(of: "SUBSCRIBE a") == "UNSUBSCRIBE")
    #expect(Subscription.opposite(of: "MONITOR") == nil)
    #expect(Subscription.opposite(of: "UNSUBSCRIBE") == nil)
  }
}

@Suite struct ConnectionManagerOptionsTests {
  @Test func `The command line is read, and has defaults`() throws {
    #expect(try Options([]).server == Endpoint(host: "127.0.0.1", port: 6379))
    let options = try Options(
      ["[::1]:7", "--session", "A b", "--session", "C", "--subscribe", "MONITOR", "--check", "20", "--retry", "0"])
    #expect(options.server == Endpoint(host: "::1", port: 7))
    #expect(options.session == ["A b", "C"] && options.subscribe == "MONITOR")
    #expect(options.checkInterval == .milliseconds(20) && options.retry.first == .zero)
    #expect(try Options(["--session", ""]).session == [])
    #expect(try Options(["-h"]).wantsHelp)
  }

  @Test(arguments: [
    ([String](["here"]), "“here” is not HOST:PORT"), (["--check"], "--check wants a value"),
    (["--check", "0"], "--check: “0” is no such number of milliseconds"),
    (["--retry", "-1"], "--retry: “-1” is no such number of milliseconds"),
    (["--session", "a\nb"], "--session: “a\\nb” is not one line"), (["--x\u{1B}"], "unknown option “--x\\u{1B}”"),
  ])
  func `A mistake is named`(arguments: [String], message: String) {
    #expect(throws: Options.Mistake(description: message)) { try Options(arguments) }
  }
}

@Suite @MainActor struct ConnectionManagerScreenTests {
  @Test func `Status, waits and messages are shown, the latest where there is little room`() async throws {
    let server = MemoryServer()
    server.kill()
    var options = Options()
    options.retry.jitter = 0
    let system = SimulatedSystem { MonitorDelegate(options) { try server.connect() } }
    try await system.play("launch; wait:250ms")
    let resources = system.application.resources
    var contents = MonitorContents(server: "127.0.0.1:1")
    contents.state = .active
    for resource in resources { contents.note(resource, among: resources) }
    contents.add("a \u{1B}[2J")
    #expect(
      contents.lines(rows: 7, columns: 60).map(\.text) == [
        "127.0.0.1:1 · active · q quits, r tries again now",
        "connection    retrying (2 failures): Connection refused; ne…", "session       waiting for connection",
        "subscription  waiting for session", "", "connection retrying (2 failures)", "a \\u{1B}[2J",
      ])
    #expect(contents.lines(rows: 6, columns: 60).last?.text == "a \\u{1B}[2J")
    #expect(contents.lines(rows: 2, columns: 12).map(\.text) == ["127.0.0.1:1…", "connection …"])
  }
}
