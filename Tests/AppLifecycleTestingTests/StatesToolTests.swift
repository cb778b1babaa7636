import AppLifecycle
import AppLifecycleTesting
import Foundation
import PubSub
import Scheduling
import TestTraits
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// What `lifecycle states` says of the life cycle, against applications that live it.
@Suite(.timeLimit(.hang)) struct StatesToolTests {
  private func make(_ ending: String, _ profile: String) throws -> String {
    let file = FileManager.default.temporaryDirectory.appending(path: "states-\(UUID().uuidString).\(ending)")
    defer { try? FileManager.default.removeItem(at: file) }
    let result = try Tool.run("states", "--profile", profile, "-o", file.path)
    #expect(result == Tool.Result(status: 0, output: "", error: ""))
    return try String(contentsOf: file, encoding: .utf8)
  }

  /// The data of the page, as its script reads it.
  private struct Page: Decodable {
    enum Part: Decodable {
      case text(String), texts([String]), scenes([[Field]]), flag(Bool)

      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
          self = .text(text)
        } else if let flag = try? container.decode(Bool.self) {
          self = .flag(flag)
        } else if let texts = try? container.decode([String].self) {
          self = .texts(texts)
        } else {
          self = .scenes(try container.decode([[Field]].self))
        }
      }
    }

    enum Field: Decodable {
      case text(String), flag(Bool)

      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let flag = try? container.decode(Bool.self) {
          self = .flag(flag)
        } else {
          self = .text(try container.decode(String.self))
        }
      }
    }

    /// Where a step leads: elsewhere, or nowhere.
    enum Step: Decodable {
      case stay(effects: Int)
      case go(target: Int, effects: Int)

      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int.self) {
          self = .stay(effects: -number - 1)
        } else {
          let pair = try container.decode([Int].self)
          self = .go(target: pair[0], effects: pair[1])
        }
      }
    }

    let inputs: [[String]]
    let states: [[Part]]
    let steps: [[Step]]
    let effects: [[[String]]]

    init(in html: String) throws {
      let begin = try #require(html.range(of: "<script type=\"application/json\" id=\"data\">")).upperBound
      let end = try #require(html.range(of: "</script>", range: begin..<html.endIndex)).lowerBound
      self = try JSONDecoder().decode(Page.self, from: Data(html[begin..<end].utf8))
    }
  }

  @Test(arguments: ["app", "scene"]) @MainActor
  func `the page says of random scripts what an application does`(profile: String) async throws {
    let page = try Page(in: try make("html", profile))
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix64(seed: seed)
    for _ in 0..<300 {
      let system = SimulatedSystem(profile: profile == "scene" ? .scenes : .application)
      var state = 0
      var told: [String] = []
      var tokens: [String] = []
      for _ in 0..<12 {
        let input = Int.random(in: 0..<page.inputs.count, using: &random)
        // No script has a word for it.
        if page.inputs[input][0] == "purge" { continue }
        tokens.append(page.inputs[input][0])
        let effects: Int
        switch page.steps[state][input] {
        case .stay(let list): effects = list
        case .go(let target, let list): (state, effects) = (target, list)
        }
        // A record has the states of the application alone. The state machine does not know whether a window without a scene
        // has a session that is closed.
        told += page.effects[effects].filter {
          ["call", "post", "ignored"].contains($0[0]) || ($0[0] == "state" && $0.count == 2)
        }.map { $0.joined(separator: " ") }.filter {
          !tokens[tokens.count - 1].hasPrefix("scene:close") || $0 != Self.unknownScene
        }
      }
      try await system.play(tokens.joined(separator: "; "))
      #expect(system.record.compactMap(Self.line) == told, "seed \(seed): \(tokens.joined(separator: "; "))")
      guard case .text(let name) = page.states[state][0] else { throw CocoaError(.coderInvalidValue) }
      #expect(name == system.application.state.rawValue, "seed \(seed): \(tokens.joined(separator: "; "))")
    }
  }

  private static let unknownScene = "ignored \(IgnoredReason.unknownScene.rawValue)"

  /// What the page would say of a record; nil of inputs that were taken, and of the question whether an application may end:
  /// the state machine does not know it.
  private static func line(_ record: LifecycleRecord) -> String? {
    let scene = record.scene.map { " \($0)" } ?? ""
    switch record.kind {
    case .delegate:
      return record.name == ApplicationCallback.shouldTerminate.rawValue ? nil : "call \(record.name)\(scene)"
    case .notification: return "post \(record.name)\(scene)"
    case .state: return "state \(record.name)\(scene)"
    case .ignored:
      let line = "ignored \(record.reason ?? "")"
      return record.name.hasPrefix("scene:close") && line == unknownScene ? nil : line
    default: return nil
    }
  }

  @Test func `the diagram has every input that a script may have`() throws {
    let tokens = Set(try Page(in: try make("html", "scene")).inputs.map { $0[0] })
    for token in tokens where token != "purge" { #expect(throws: Never.self) { try Script(token) } }
    // The help lists them, with what may follow: `switcher:return|leave|kill`.
    let help = try Tool.run("help", "simulate").output.components(separatedBy: "Time passes only")[1]
    let list = help.components(separatedBy: "quit is the user's")[0]
    let words = list.split(whereSeparator: { " \n".contains($0) }).filter {
      $0 == $0.lowercased() && (try? Script(String($0))) != nil
    }
    #expect(words.count > 15)
    for word in words { #expect(tokens.contains(String(word)), "\(word)") }
    for token in ["launch:background", "passcode:on", "switcher:kill", "interrupt:call", "scene:close:second"] {
      #expect(tokens.contains(token))
    }
  }

  @Test(arguments: ["app", "scene"]) func `each form has every change`(profile: String) throws {
    let text = try make("txt", profile)
    #expect(try Tool.run("states", "--profile", profile).output == text)
    // A picture shows one diagram: the scene's where there are scenes.
    let last = text.components(separatedBy: "\nscene\n").last ?? ""
    let changes = last.split(separator: "\n").filter { $0.contains(" → ") }
    let drawn = changes.filter { !$0.contains("vanishes") }
    #expect(changes.count > 5)
    let picture = try make("svg", profile)
    #expect(picture.components(separatedBy: "<g class=\"change\"").count - 1 == drawn.count)
    #expect(picture.contains("class=\"change loss\"") == (drawn.count < changes.count))
    for change in drawn {
      let states = change.components(separatedBy: " → ")
      #expect(picture.contains("data-change=\"\(states[0]) \(states[1])\""))
      #expect(try make("mmd", profile).contains("\(states[0]) --> \(states[1]): "))
      #expect(try make("dot", profile).contains("\(states[0]) -> \(states[1]) [label="))
    }
    #expect(XMLParser(data: Data(picture.utf8)).parse())
  }

  @Test func `active and suspended are reached as the life cycle says`() throws {
    let changes = try make("txt", "app").split(separator: "\n").filter { $0.contains(" → ") }
    #expect(changes.filter { $0.contains("→ active") } == ["inactive → active"])
    #expect(changes.filter { $0.contains("→ suspended") } == ["background → suspended"])
    #expect(
      changes.filter { $0.hasPrefix("active") } == [
        "active → notRunning   the process vanishes, nothing is called", "active → inactive",
      ])
  }

  @Test(arguments: [
    (["states", "page.html"], "'states' takes no 'page.html'"),
    (["states", "-o", "states.pdf"], "choose the format of 'states.pdf'"),
    (["states", "--format", "png"], "--format is text or html or svg or dot or mermaid, not 'png'"),
    (["states", "--profile", "window"], "--profile is app or scene, not 'window'"),
  ])
  func `what makes no sense is refused`(arguments: [String], message: String) throws {
    let result = try Tool.run(arguments)
    #expect(result.status == 64 && result.output == "" && result.error.contains(message))
  }

  @Test @MainActor func `in a browser, an address leads to its states, and a click to the next`() async throws {
    guard let browser = Browser() else { return }
    let folder = FileManager.default.temporaryDirectory.appending(path: "states-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let page = folder.appending(path: "page.html")
    let click = "<script>document.querySelector('[data-input=home]').click()</script></body>"
    let html = try make("html", "app").replacingOccurrences(of: "</body>", with: click)
    try Data(html.utf8).write(to: page)
    let address = try #require(URL(string: page.absoluteString + "#launch"))
    let visit = try await browser.visit(address, in: folder)
    #expect(visit.requests == [])
    #expect(visit.elements.first { $0["id"] == "command" }?.text == "lifecycle simulate 'launch; home'")
    #expect(visit.elements.first { $0.classes.contains("here") }?["data-state"] == "background")
    #expect(
      visit.elements.first { $0["data-input"] == "home" }?["title"]
        == "ignored: the application is not in the foreground")
    let lines = visit.elements.filter { $0.name == "li" }.map { $0.classes.first ?? "" }
    #expect(lines.filter { $0 == "call" }.count == 5 && lines.filter { $0 == "input" }.count == 2)
    // An address that cannot be decoded leads to the beginning.
    try Data(try make("html", "app").utf8).write(to: page)
    let damaged = try #require(URL(string: page.absoluteString + "#%E5%B7"))
    let beginning = try await browser.visit(damaged, in: folder)
    #expect(beginning.elements.first { $0.classes.contains("here") }?["data-state"] == "notRunning")
  }
}
