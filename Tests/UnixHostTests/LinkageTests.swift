import PseudoTerminal
import Testing

/// A program that uses `PubSub`, `AppLifecycle`, `UnixHost` and `LifecycleJournal` alone links no Foundation.
struct LinkageTests {
  static let probes = ["TerminalProbe", "JournalProbe"]

  @Test(arguments: probes) func theProbesOwnLibrariesAreNoFoundation(probe: String) async throws {
    let finished = try await runProgram(["readelf", "--dynamic", "--wide", builtProduct(probe)])
    try #require(finished.ending == .exited(0), "\(finished.errors)")
    let needed = finished.output.split(separator: "\n").filter { $0.contains("(NEEDED)") }
    // Else the listing itself was not understood.
    try #require(needed.contains { $0.contains("libswiftCore") })
    #expect(needed.filter { $0.contains("Foundation") } == [])
  }

  @Test(arguments: probes) func theLibrariesOfItsLibrariesAreNoFoundation(probe: String) async throws {
    let finished = try await runProgram(["ldd", builtProduct(probe)])
    try #require(finished.ending == .exited(0), "\(finished.errors)")
    let lines = finished.output.split(separator: "\n")
    try #require(lines.contains { $0.contains("libswiftCore") })
    #expect(lines.filter { $0.contains("Foundation") } == [])
  }

  /// Saved state needs a coder, which is in the smallest part of Foundation.
  @Test func savedStateLinksTheEssentialsOnly() async throws {
    let finished = try await runProgram(["ldd", builtProduct("SavedStateProbe")])
    try #require(finished.ending == .exited(0), "\(finished.errors)")
    let libraries = finished.output.split(separator: "\n").compactMap { $0.split(separator: " ").first }
    let foundation = libraries.filter { $0.contains("Foundation") }.map { $0.filter { $0 != "\t" } }
    #expect(
      Set(foundation).isSubset(of: [
        "libFoundationEssentials.so", "lib_FoundationCollections.so", "lib_FoundationCShims.so",
      ]))
    #expect(foundation.contains("libFoundationEssentials.so"))
  }
}
