import Foundation
import Testing
import TestTraits

/// The compiler's words about mistakes in code that uses the products: they name the mistake, and Docs/Diagnostics.md the cure.
@Suite(.timeLimit(.hang), .enabled(if: Compiler.path != nil, "needs swiftc, beside libswiftCore.so or in PATH"))
struct `What the compiler says` {
  // One case after another, beside those of the other test: two compilers at a time.
  @Test(.serialized, arguments: Snippet.all)
  func `about a mistake`(snippet: Snippet) async throws {
    let said = try await Compiler.diagnostics(of: snippet, isCured: false)
    #expect(snippet.differences(from: said) == [])
  }

  @Test(.serialized, arguments: Snippet.all)
  func `about the cure is nothing`(snippet: Snippet) async throws {
    guard snippet.text.contains("#if CURED") else {
      // Nothing to compile: the mistakes of this file are those of which the compiler says nothing.
      #expect(snippet.expected == [])
      return
    }
    let said = try await Compiler.diagnostics(of: snippet, isCured: true)
    #expect(said == [])
  }
}

@Suite struct `The snippets` {
  @Test func `are there`() { #expect(Snippet.all.count >= 16) }

  @Test func `have their words in the documentation`() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Docs/Diagnostics.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    // What has nothing to do with this library is explained by the compiler.
    for snippet in Snippet.all where snippet.name != "MistakesInsideAcquire.swift" {
      for expected in snippet.expected {
        let words = expected.text.split(separator: ": ", maxSplits: 1)[1]
        #expect(text.contains("`\(words)`"), "\(snippet.name)")
      }
    }
  }

  @Test func `are compared line by line and word by word`() {
    let snippet = Snippet(
      name: "",
      text: """
        let one = 1
        // expect error: cannot find … in scope
        // expect warning: never used
        let two = three
        """)
    let right = [
      Diagnostic(line: 4, text: "warning: never used"),
      Diagnostic(line: 4, text: "error: cannot find 'three' in scope"),
    ]
    #expect(snippet.differences(from: right) == [])
    #expect(
      snippet.differences(from: [right[0], Diagnostic(line: 1, text: right[1].text)]) == [
        "not said: line 4: error: cannot find … in scope", "not expected: line 1: error: cannot find 'three' in scope",
      ])
    #expect(snippet.differences(from: right + [right[0]]) == ["not expected: line 4: warning: never used"])
  }

  @Test func `stand for any text where three dots are`() {
    #expect(matches("type 'Prices' does not conform", "type … does not conform"))
    #expect(matches("a b c d", "a … c …"))
    #expect(!matches("a b c d", "a … e …"))
    #expect(!matches("ab", "ab…b"))
    #expect(!matches("type 'Prices' does not conform.", "type … does not conform"))
  }

  @Test func `are told from what else the compiler prints`() throws {
    let path = "/tmp/a.swift"
    let said = Diagnostic(printed: "\(path):3:7: warning: old: new [#DeprecatedDeclaration]", in: path)
    #expect(said == Diagnostic(line: 3, text: "warning: old: new"))
    #expect(
      Diagnostic(printed: "<unknown>:0: error: no such module", in: path)
        == Diagnostic(line: 0, text: "error: no such module"))
    #expect(Diagnostic(printed: "\(path):3:7: note: declared here", in: path) == nil)
  }
}
