import ExampleSupport
import Testing

/// Where the examples keep what outlives them.
struct StateFolderTests {
  @Test func `The folder follows the XDG base directories`() {
    func path(_ environment: [String: String]) -> String? { StateFolder.path("program/file") { environment[$0] } }
    #expect(path(["XDG_STATE_HOME": "/x", "HOME": "/h"]) == "/x/program/file")
    #expect(path(["XDG_STATE_HOME": "x", "HOME": "/h"]) == "/h/.local/state/program/file")
    #expect(path(["HOME": "/h"]) == "/h/.local/state/program/file")
    #expect(path([:]) == nil)
  }
}
