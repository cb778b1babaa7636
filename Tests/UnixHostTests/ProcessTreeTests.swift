import Testing

@testable import UnixHost

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The processes that the kernel lets stop, and those that it does not, because no process could continue them.
@Suite struct ProcessTreeTests {
  private func canStop(_ process: Int32, _ processes: [Int32: ProcessTree.Entry]) -> Bool {
    ProcessTree { processes[$0] }.canStop(process)
  }

  private func entry(_ parent: Int32, group: Int32, session: Int32) -> ProcessTree.Entry {
    ProcessTree.Entry(parent: parent, group: group, session: session)
  }

  /// The shell that runs a job is the one that prompts on its screen, also inside another shell and behind a script.
  @Test func theShellIsTheFirstAncestorInAnotherGroup() {
    let processes: [Int32: ProcessTree.Entry] = [
      5: entry(1, group: 5, session: 5), 10: entry(5, group: 10, session: 5), 20: entry(10, group: 20, session: 5),
      21: entry(20, group: 20, session: 5), 30: entry(5, group: 5, session: 5),
    ]
    let tree = ProcessTree { processes[$0] }
    #expect(tree.shellGroup(of: 20) == 10)
    #expect(tree.shellGroup(of: 21) == 10)
    #expect(tree.shellGroup(of: 10) == 5)
    #expect(tree.shellGroup(of: 30) == nil)
  }

  @Test func theAncestorsEndWhereTheyAreNotVisible() {
    let processes: [Int32: ProcessTree.Entry] = [
      5: entry(1, group: 5, session: 5), 10: entry(5, group: 10, session: 5), 20: entry(21, group: 20, session: 5),
      21: entry(20, group: 20, session: 5), 30: entry(0, group: 30, session: 30),
    ]
    let tree = ProcessTree { processes[$0] }
    #expect(tree.ancestors(of: 10) == [5, 1])
    #expect(tree.ancestors(of: 20) == [21, 20])
    #expect(tree.ancestors(of: 30) == [])
  }

  @Test func aJobOfAShellCanStop() {
    #expect(canStop(20, [10: entry(5, group: 10, session: 10), 20: entry(10, group: 20, session: 10)]))
  }

  @Test func aProgramInAScriptThatIsAJobCanStop() {
    #expect(
      canStop(
        21,
        [
          10: entry(5, group: 10, session: 10), 20: entry(10, group: 20, session: 10),
          21: entry(20, group: 20, session: 10),
        ]))
  }

  @Test func aProgramThatTheTerminalRunsDirectlyCannot() {
    #expect(!canStop(20, [5: entry(1, group: 5, session: 5), 20: entry(5, group: 20, session: 20)]))
  }

  @Test func aScriptThatTheTerminalRunsDirectlyCannotEither() {
    #expect(
      !canStop(
        21,
        [
          5: entry(1, group: 5, session: 5), 20: entry(5, group: 20, session: 20),
          21: entry(20, group: 20, session: 20),
        ]))
  }

  @Test func anOrphanCannot() {
    #expect(!canStop(20, [1: entry(0, group: 1, session: 1), 20: entry(1, group: 20, session: 10)]))
  }

  @Test func theFirstProcessOfAContainerCannot() {
    #expect(!canStop(1, [1: entry(0, group: 1, session: 1)]))
    #expect(!canStop(7, [7: entry(0, group: 7, session: 7)]))
  }

  @Test func aProcessThatHasGoneEndsTheWalk() {
    #expect(!canStop(20, [20: entry(10, group: 20, session: 10)]))
    #expect(!canStop(20, [:]))
  }

  @Test func aTreeThatChangesWhileItIsReadDoesNotTrapTheWalk() {
    #expect(!canStop(20, [20: entry(19, group: 20, session: 10), 19: entry(19, group: 20, session: 10)]))
    #expect(!canStop(20, [20: entry(19, group: 20, session: 10), 19: entry(20, group: 20, session: 10)]))
  }

  /// The shell waits for its own child.
  @Test(arguments: [(nil, true), (20, false), (21, true), (22, true)] as [(Int32?, Bool)])
  func aWrapperThatIgnoresTheStopWouldNotTellTheShell(ignoring: Int32?, isPossible: Bool) {
    var processes: [Int32: ProcessTree.Entry] = [
      10: entry(5, group: 10, session: 10), 20: entry(10, group: 20, session: 10),
      21: entry(20, group: 20, session: 10), 22: entry(21, group: 20, session: 10),
    ]
    if let ignoring { processes[ignoring]?.ignoresStop = true }
    #expect(canStop(22, processes) == isPossible)
  }

  @Test(arguments: [
    ("SigIgn:\t0000000000080000", true), ("Name:\tx\nSigBlk:\t0\nSigIgn:\tffffffffffffffff\nSigCgt:\t0", true),
    ("SigIgn:\t0000000000040000", false), ("SigCgt:\t0000000000080000", false), ("SigIgn:\tffffffffffffffffff", false),
    ("SigIgn:", false), ("", false),
  ])
  func theIgnoredSignalsAreRead(status: String, ignores: Bool) {
    #expect(ProcessTree.ignoresStop(inStatus: Array(status.utf8)) == ignores)
  }

  @Test(arguments: [
    ("42 (vi) S 7 42 42 0", 7), ("42 (a b) S 8 42", 8), ("42 (weird) ) (name) T 9 1", 9),
  ])
  func theParentIsReadPastAnyName(line: String, parent: Int32) {
    #expect(ProcessTree.parent(inStatus: Array(line.utf8)) == parent)
  }

  @Test(arguments: ["", "42 (vi", "42 (vi)", "42 (vi) S", "42 (vi) S x"])
  func aLineThatIsNoneHasNoParent(line: String) {
    #expect(ProcessTree.parent(inStatus: Array(line.utf8)) == nil)
  }

  @Test func thisProcessIsFound() throws {
    let own = try #require(ProcessTree.live.entry(getpid()))
    #expect(own == ProcessTree.Entry(parent: getppid(), group: getpgrp(), session: getsid(0)))
  }
}
