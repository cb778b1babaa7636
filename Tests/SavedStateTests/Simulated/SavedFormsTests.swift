import AppLifecycle
import AppLifecycleTesting
import Foundation
import SavedState
import TestTraits
import Testing

/// Keys, types and versions of values, from one process to the next.
@MainActor @Suite(.timeLimit(.hang)) struct SavedFormsTests {
  private nonisolated struct Person: Codable, Sendable, Hashable {
    var first: String
    var last: String
  }

  /// Plays one process in which a body uses the state; each process is a program of its own.
  private func process(of device: ProbeDevice, _ body: (SavedState) throws -> Void) async throws {
    try await device.play("launch")
    try body(device.state)
    try await device.play("kill")
  }

  /// Plays one process, and expects what it finds.
  private func next<Value: Codable & Sendable & Equatable>(
    of device: ProbeDevice, _ key: String, default: Value, version: Int = 1, is expected: Value,
    at location: SourceLocation = #_sourceLocation
  ) async throws {
    try await process(of: device) { state in
      let found = try state.value(key, default: `default`, version: version).value
      #expect(found == expected, sourceLocation: location)
    }
  }

  private func device() -> ProbeDevice { ProbeDevice { _, _ in } }

  // MARK: Versions

  @Test("an older form is migrated, and stays for older programs") func migration() async throws {
    let device = device()
    try await process(of: device) { try $0.value("name", default: "").value = "Ada Lovelace" }
    try await process(of: device) { state in
      let name = try state.value("name", default: Person(first: "", last: ""), version: 2) { older in
        #expect(older.version == 1)
        let parts = try older.decode(String.self).split(separator: " ").map(String.init)
        return Person(first: parts[0], last: parts[1])
      }
      #expect(name.value == Person(first: "Ada", last: "Lovelace"))
    }
    try await process(of: device) { state in
      // Without a closure: the migrated form was saved.
      let name = try state.value("name", default: Person(first: "", last: ""), version: 2)
      #expect(name.value == Person(first: "Ada", last: "Lovelace") && state.problem == nil)
      name.value.first = "Augusta Ada"
    }
    try await next(of: device, "name", default: "", is: "Ada Lovelace")
  }

  @Test("an older program keeps the form of a newer one, and the newer one finds it") func newerForm() async throws {
    let device = device()
    let person = Person(first: "Ada", last: "Lovelace")
    try await process(of: device) {
      try $0.value("name", default: Person(first: "", last: ""), version: 2).value = person
    }
    for text in ["Grace", "Grace Hopper"] {
      try await process(of: device) { state in
        let name = try state.value("name", default: "")
        #expect(text == "Grace" ? name.value == "" : name.value == "Grace")
        #expect((state.problem != nil) == (text == "Grace"))
        name.value = text
      }
    }
    try await next(of: device, "name", default: Person(first: "", last: ""), version: 2, is: person)
  }

  @Test("a closure that throws leaves the older form, and the default is used") func failedMigration() async throws {
    struct Refusal: Error {}
    let device = device()
    try await process(of: device) { try $0.value("name", default: "").value = "Ada" }
    try await process(of: device) { state in
      let name = try state.value("name", default: 7, version: 2) { _ in throw Refusal() }
      #expect(name.value == 7)
      #expect(state.problem == .notDecoded(key: "name", reason: "Refusal()"))
      name.value = 8
    }
    try await next(of: device, "name", default: 7, version: 2, is: 8)
    try await next(of: device, "name", default: "", is: "Ada")
  }

  // MARK: Values that cannot be decoded or encoded

  @Test(
    "a value that cannot be decoded is kept beside the new one, and found again",
    arguments: ["", "slow:save:2s; interrupt:call; wait:1s", "fail:save; home; open"])
  func undecodable(meanwhile: String) async throws {
    let device = device()
    try await process(of: device) { try $0.value("page", default: "").value = "text" }
    try await process(of: device) { state in
      let page = try state.value("page", default: 0)
      #expect(page.value == 0)
      guard case .notDecoded("page", _) = state.problem else {
        Issue.record("the problem is \(String(describing: state.problem))")
        return
      }
    }
    try await device.play("launch")
    let page = try device.state.value("page", default: 0)
    page.value = 1
    try await device.play(meanwhile)
    page.value = 2
    try await device.play("wait:1m")
    page.value = 3
    try await device.play("kill")
    try await next(of: device, "page", default: 0, is: 3)
    try await next(of: device, "page", default: "", is: "text")
    // The program that went back to text has saved it again, and has kept the number.
    try await next(of: device, "page", default: "", is: "text")
    try await next(of: device, "page", default: 0, is: 3)
  }

  @Test("the values of several programs that cannot decode one another's stay") func severalUndecodable() async throws {
    let device = device()
    try await process(of: device) { try $0.value("page", default: "").value = "text" }
    try await process(of: device) { try $0.value("page", default: 0).value = 1 }
    try await process(of: device) { try $0.value("page", default: [false]).value = [true] }
    // Each finds its own, twice: what one program saves again replaces no other program's.
    for _ in 0..<2 {
      try await next(of: device, "page", default: "", is: "text")
      try await next(of: device, "page", default: 0, is: 1)
      try await next(of: device, "page", default: [false], is: [true])
    }
  }

  @Test("of programs that change their values in turn, none pushes out another one's") func changedInTurn() async throws
  {
    let device = device()
    try await process(of: device) { try $0.value("page", default: [false]).value = [true] }
    for number in 1...6 {
      try await process(of: device) { state in
        let value = try state.value("page", default: "")
        #expect(value.value == (number == 1 ? "" : "text \(number - 1)"))
        value.value = "text \(number)"
      }
      try await process(of: device) { try $0.value("page", default: 0).value = number }
    }
    try await next(of: device, "page", default: [false], is: [true])
  }

  @Test("of the values that cannot be decoded the latest four are kept") func mostUndecodable() async throws {
    let device = device()
    try await process(of: device) { try $0.value("page", default: "").value = "text" }
    try await process(of: device) { try $0.value("page", default: 0).value = 1 }
    try await process(of: device) { try $0.value("page", default: [false]).value = [true] }
    try await process(of: device) { try $0.value("page", default: [""]).value = ["a"] }
    try await process(of: device) { try $0.value("page", default: ["": 0]).value = ["b": 2] }
    try await process(of: device) { try $0.value("page", default: ["": ""]).value = ["c": "d"] }
    try await next(of: device, "page", default: "", is: "")
    try await next(of: device, "page", default: 0, is: 1)
    try await next(of: device, "page", default: [false], is: [true])
    try await next(of: device, "page", default: [""], is: ["a"])
    try await next(of: device, "page", default: ["": 0], is: ["b": 2])
    try await next(of: device, "page", default: ["": ""], is: ["c": "d"])
  }

  @Test("a value that cannot be encoded is named, the others are saved, and it is not acknowledged")
  func unencodable() async throws {
    let device = device()
    try await device.play("launch")
    let (number, text) = (
      try device.state.value("number", default: 0.0), try device.state.value("text", default: "")
    )
    (number.value, text.value) = (1, "one")
    try await device.play("interrupt:call; end:call")
    (number.value, text.value) = (.nan, "two")
    for _ in 0..<2 {
      let answer = device.save()
      try await device.play("wait:0s")
      #expect(answer.text?.hasPrefix("“number” is not saved: ") == true)
      guard case .notEncoded("number", _) = device.state.problem else {
        Issue.record("the problem is \(String(describing: device.state.problem))")
        return
      }
    }
    // What is not encoded is no reason to write again and again.
    let writes = device.disk.writes
    try await device.play("wait:1h; crash; launch; wait:1m")
    #expect(device.disk.writes == writes)
    let found = try device.state.value("number", default: 0.0)
    #expect(found.value == 1)
    #expect(try device.state.value("text", default: "").value == "two")
    found.value = .infinity
    try await device.play("interrupt:call; end:call")
    found.value = 3
    try await device.play("wait:30s")
    #expect(device.state.problem == nil)
    try await device.play("crash; launch")
    #expect(try device.state.value("number", default: 0.0).value == 3)
  }

  @Test("a value that can be neither decoded nor encoded loses nothing") func undecodableAndUnencodable() async throws {
    let device = device()
    try await process(of: device) { try $0.value("number", default: "").value = "text" }
    try await device.play("launch")
    let number = try device.state.value("number", default: 0.0)
    number.value = .nan
    try await device.play("home; open")
    number.value = 2
    try await device.play("kill")
    try await next(of: device, "number", default: 0.0, is: 2)
    try await next(of: device, "number", default: "", is: "text")
  }

  @Test("a decimal that is no number is not saved, and what was saved before stays") func unencodableDecimal()
    async throws
  {
    struct Draft: Codable, Equatable {
      var text = ""
      var average: Decimal? = 0
    }
    let device = device()
    let before = Draft(text: "before", average: 0.1)
    try await process(of: device) { try $0.value("draft", default: Draft()).value = before }
    try await device.play("launch")
    let draft = try device.state.value("draft", default: Draft())
    draft.value = Draft(text: "NaN", average: 1 / 0)
    let answer = device.save()
    try await device.play("wait:0s")
    #expect(answer.text?.hasPrefix("“draft” is not saved: ") == true)
    try await device.play("wait:5s; crash")
    try await next(of: device, "draft", default: Draft(), is: before)
    // A text may have the same letters.
    try await process(of: device) { try $0.value("draft", default: Draft()).value.text = "NaN" }
    try await next(of: device, "draft", default: Draft(), is: Draft(text: "NaN", average: 0.1))
  }

  // MARK: Keys

  @Test("two values of one key that differ in type or version are a conflict, which names both places")
  func conflict() async throws {
    let device = device()
    try await device.play("launch")
    let first = try device.state.value("page", default: "", fileID: "Editor/Page.swift", line: 7)
    #expect(try device.state.value("page", default: "other") === first)
    let type = SavedStateError.conflict(
      key: "page", first: "String, version 1, at Editor/Page.swift:7", second: "Int, version 1, at Editor/Count.swift:9"
    )
    #expect(throws: type) { try device.state.value("page", default: 0, fileID: "Editor/Count.swift", line: 9) }
    #expect(type.description.contains("Editor/Page.swift:7") && type.description.contains("Editor/Count.swift:9"))
    let version = SavedStateError.conflict(
      key: "page", first: "String, version 1, at Editor/Page.swift:7",
      second: "String, version 2, at Editor/Page.swift:8")
    #expect(throws: version) {
      try device.state.value("page", default: "", version: 2, fileID: "Editor/Page.swift", line: 8)
    }
  }

  @Test(
    "a key has 1 to 255 bytes",
    arguments: ["", String(repeating: "k", count: 10_240), String(repeating: "é", count: 128)])
  func invalidKey(key: String) async throws {
    let device = device()
    try await device.play("launch")
    #expect(throws: SavedStateError.invalidKey(key)) { try device.state.value(key, default: 0) }
    #expect(SavedStateError.invalidKey(key).description.utf8.count < 200)
    try await device.play("home")
    #expect(device.disk.writes == 0)
  }

  @Test(
    "any text of 1 to 255 bytes is a key",
    arguments: ["\n", "\u{0}", "\"", "é", "main/x", String(repeating: "k", count: 255)])
  func validKey(key: String) async throws {
    let device = device()
    try await process(of: device) { try $0.value(key, default: 0).value = 7 }
    try await next(of: device, key, default: 0, is: 7)
  }
}
