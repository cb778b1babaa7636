import AppLifecycle
import Foundation
import LifecycleJournal
import TestFiles
import TestTraits
import Testing

/// No text that comes from outside reaches the terminal with a control character in it.
@Suite(.timeLimit(.hang)) struct ToolEscapeTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.file("trips.jsonl") }

  init() throws { directory = try TemporaryDirectory() }

  /// Every control character: C0, DEL, and C1, among which U+009B begins a sequence as ESC [ does.
  private static let controls = String(
    String.UnicodeScalarView(
      (Array(0..<0x20) + Array(0x7F..<0xA0)).compactMap { (value: UInt32) in Unicode.Scalar(value) }))

  /// What stands where it stands; DEL and C1 as plain UTF-8, as every JSON writer is free to have them.
  private static let hostile: String = {
    let pieces = controls.unicodeScalars.map { scalar in
      scalar.value < 0x20 ? "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16) : "\(scalar)"
    }
    return "a" + pieces.joined() + "[2J\u{A0}é"
  }()

  /// A journal that has every control character in every text.
  private func makeHostileJournal() throws {
    let (x, run) = (
      Self.hostile, "\"journal\":\"run\",\"version\":1,\"part\":0,\"pid\":7,\"start\":1.0,\"t\":0.0,\"wall\":1.0"
    )
    let record = "\"name\":\"\(x)\",\"state\":\"active\",\"scene\":\"\(x)\",\"cause\":\"\(x)\",\"reason\":\"\(x)\""
    let entry = "\"journal\":\"entry\",\"t\":2.0,\"began\":1.0,\"name\":\"\(x)\",\"source\":\"\(x)\",\"step\":\"\(x)\""
    var lines = ["{\(run),\"run\":\"\(x)\",\"program\":\"\(x)\",\"boot\":\"\(x)\",\"state\":\"notRunning\"}"]
    lines += LifecycleRecord.Kind.allCases.map { "{\"t\":1.0,\"kind\":\"\($0.rawValue)\",\(record)}" }
    lines += ["delegate", "subscriber", "resource", "runBody", "task"].map { kind in
      "{\(entry),\"kind\":\"\(kind)\",\"outcome\":\"failed\",\"error\":\"\(x)\"}"
    }
    lines += ["{\"journal\":\"gap\",\"t\":3.0,\"since\":2.0,\"lost\":1,\"error\":\"\(x)\"}", x]
    lines += ["{\"t\":4.0,\"kind\":\"report\",\(record.replacing("\"name\":\"a", with: "\"name\":\"watchdog:a"))}"]
    try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: path))
  }

  /// The control characters of a text but for the ends of its lines.
  private func controls(in text: String) -> String {
    text.unicodeScalars.filter { $0 != "\n" && ($0.value < 0x20 || (0x7F..<0xA0).contains($0.value)) }
      .map { String($0.value, radix: 16) }.joined(separator: " ")
  }

  @Test(
    arguments: [
      ["log"], ["log", "--json"], ["sessions"], ["sessions", "--json"], ["timeline", "-o", "-", "--format", "html"],
      ["timeline", "-o", "-", "--format", "json"],
    ])
  func `no control character of a journal is printed`(arguments: [String]) throws {
    try makeHostileJournal()
    let result = try Tool.run(arguments + [path])
    // A table of runs names none of the texts.
    #expect(result.output.contains("é") || arguments == ["sessions"])
    #expect(controls(in: result.output) == "" && controls(in: result.error) == "")
  }

  /// Each of these letters forms one character with what follows it.
  @Test(arguments: ["\u{D4E}", "\u{111C2}", "\u{11A84}"])
  func `no tag of a journal, or of its name, begins in a page, whatever letter stands before it`(letter: String) throws
  {
    let tags = ["</script>", "<b title=x>", "&lt;i>"].map { letter + $0 }.joined()
    let record =
      "\"kind\":\"report\",\"name\":\"\(tags)\",\"state\":\"active\",\"scene\":\"\(tags)\",\"cause\":\"\(tags)\""
    let file = directory.file("\(letter)<b title=x>\(letter)&lt;i>\(letter)\".jsonl")
    try Data("{\"t\":0.0,\(record)}\n".utf8).write(to: URL(filePath: file))
    let page = Data(try Tool.run("timeline", "-o", "-", "--format", "html", file).output.utf8)
    // By bytes: to a text's own search the letter and the tag's beginning are one character, too.
    for tag in ["<b title", "\(letter)<", "\(letter)\""] {
      #expect(page.range(of: Data(tag.utf8)) == nil, "\(tag)")
    }
    #expect(
      page.range(of: Data("\(letter)&lt;b title=x&gt;\(letter)&amp;lt;i&gt;\(letter)&quot;.jsonl</h1>".utf8)) != nil)
    #expect(page.range(of: Data("\(letter)\\u003c/script>\(letter)\\u003cb".utf8)) != nil)
  }

  @Test func `what log --json escapes is read as it was written`() throws {
    try makeHostileJournal()
    let lines = try Tool.run("log", "--json", path).output.split(separator: "\n")
    #expect(lines.count == LifecycleRecord.Kind.allCases.count + 1)
    #expect(lines.first?.contains("\\u007f\\u0080") == true && lines.first?.contains("\\u009b") == true)
    for line in lines {
      let record = try #require(LifecycleRecord(jsonLine: String(line)))
      let value = "a\(Self.controls)[2J\u{A0}é"
      #expect(record.scene == value && record.cause.rawValue == value && record.name.hasSuffix(value))
      #expect(record.jsonLine == line)
    }
  }

  @Test func `a name in a trace that is replayed is escaped, in what is printed and in a complaint`() throws {
    let cause = Self.hostile
    let trace = { (name: String) in
      #"{"t":0.0,"kind":"input","name":"\#(name)","state":"notRunning","scene":null,"cause":"\#(cause)"}"# + "\n"
    }
    for format in ["table", "jsonl"] {
      let result = try Tool.run(["simulate", "--replay", "-", "--format", format], input: trace("launch"))
      #expect(result.status == 0 && controls(in: result.output) == "")
      let refused = try Tool.run(["simulate", "--replay", "-", "--format", format], input: trace(cause))
      #expect(refused.status == 2 && refused.error.contains("\\u{9B}") && controls(in: refused.error) == "")
    }
  }

  /// `X` stands for a text with every control character but NUL and LF, and with one that turns the direction of writing.
  @Test(
    arguments: [
      ["X"], ["help", "X"], ["log", "X", "X"], ["log", "--X", "a"], ["log", "--session=X"], ["log", "--json=X", "a"],
      ["log", "--since", "X", "a"], ["log", "--color", "X", "a"], ["sessions", "--X"], ["sessions", "a", "X"],
      ["names", "X"], ["names", "--X"], ["timeline", "a", "-o", "X"], ["timeline", "a", "--format", "X"],
      ["completion", "X"], ["simulate", "--X"], ["simulate", "--format", "X", "launch"], ["simulate", "--profile=X"],
    ])
  func `wrong usage is explained without what a terminal would obey`(arguments: [String]) throws {
    let hostile = Self.controls.filter { $0 != "\0" } + "\u{202E}\u{2066}[2J"
    let result = try Tool.run(arguments.map { $0.replacingOccurrences(of: "X", with: hostile) })
    #expect(result.status == 64 && result.output == "" && result.error.hasPrefix("lifecycle: "))
    #expect(controls(in: result.error) == "" && !result.error.contains { $0 == "\u{202E}" || $0 == "\u{2066}" })
    // The complaint and the advice: the text itself adds no line.
    #expect(result.error.split(separator: "\n").count == 2, "\(result.error)")
  }
}
