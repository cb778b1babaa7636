import AppLifecycle
import AppLifecycleTesting
import Glibc
import PseudoTerminal
import TestTraits
import Testing

@testable import PausingGame

#if canImport(CSDL)
  /// The game in two real windows of a virtual display, with a window manager; xdotool is the player.
  @Suite(.serialized, .timeLimit(.hang)) struct WindowTests {
    /// Runs `body` with the game, its first window active; skips the test, and says why, where there can be no display.
    private func withGame(_ body: (GameProgram, VirtualDisplay) async throws -> Void) async throws {
      if let obstacle = VirtualDisplay.obstacle {
        print("skipped in real windows: \(obstacle)")
        try Test.cancel("\(obstacle)")
      }
      try await withTemporaryDirectory { directory in
        try await VirtualDisplay.run(in: directory) { display in
          try await GameProgram.run(on: display, in: directory) { game in
            try await game.writes("textures of main: held")
            try await display.activate("Pausing Game")
            try await body(game, display)
          }
        }
      }
    }

    @Test func theGameFollowsItsWindows() async throws {
      try await withGame { game, display in
        try await display.xdotool("key", "space")
        try await game.writes("game: goes on")

        // A second window takes the focus from the first.
        try await display.xdotool("key", "s")
        try await game.writes("scene:open:scores", "scene:unfocus:main", "game: paused", "textures of scores: held")
        try await display.activate("Scores")

        // The focus returns; the player goes on only then.
        try await display.activate("Pausing Game")
        try await game.writes("scene:focus:main", "scene:unfocus:scores")
        try await display.xdotool("key", "space")
        try await game.writes("game: goes on")

        try await display.activate("Scores")
        try await game.writes("scene:focus:scores", "scene:unfocus:main", "game: paused")
        try await display.activate("Pausing Game")
        try await game.writes("scene:focus:main", "scene:unfocus:scores")
        try await display.xdotool("key", "Return")
        try await game.writes("game: goes on")

        try await display.xdotool("getactivewindow", "windowminimize")
        try await game.writes(
          "scene:focus:scores", "scene:unfocus:main", "scene:background:main", "game: paused", "textures of main: idle")
        try await display.activate("Pausing Game")
        try await game.writes("scene:open:main", "scene:focus:main", "scene:unfocus:scores", "textures of main: held")

        try await display.activate("Scores")
        try await game.writes("scene:focus:scores", "scene:unfocus:main")
        try await display.xdotool("key", "alt+F4")
        try await game.writes("scene:close:scores", "textures of scores: idle", "scene:focus:main")
        try await display.activate("Pausing Game")
        try await display.xdotool("key", "space")
        try await game.writes("game: goes on")
        try await display.xdotool("key", "q")
        #expect(try await game.child.ending() == .exited(0))

        let toMain: Set = ["scene:focus:main", "scene:unfocus:scores"]
        let toScores: Set = ["scene:focus:scores", "scene:unfocus:main"]
        try await expectRecord(
          of: game,
          [
            ["launch"], ["scene:open:scores"], ["scene:unfocus:main"], toMain, toScores, toMain,
            toScores.union(["scene:background:main"]), toMain.union(["scene:open:main"]), toScores,
            ["scene:close:scores"], ["scene:focus:main"], ["quit"],
          ])
        #expect(game.story.count { $0.hasPrefix("game: ") } == 8)
      }
    }

    @Test func theMainWindowThatIsClosedEndsTheProgram() async throws {
      try await withGame { game, display in
        try await display.xdotool("key", "alt+F4")
        #expect(try await game.child.ending() == .exited(0))
        try await expectRecord(of: game, [["launch"], ["quit"]])
      }
    }

    @Test func SIGTERMEndsAMinimizedGameInOrder() async throws {
      try await withGame { game, display in
        try await display.xdotool("getactivewindow", "windowminimize")
        try await game.writes("scene:unfocus:main", "scene:background:main", "textures of main: idle")
        game.child.signal(SIGTERM)
        #expect(try await game.child.ending() == .exited(0))
        try await expectRecord(
          of: game, [["launch"], ["scene:unfocus:main", "scene:background:main"], ["kill"]])
      }
    }

    /// Checks that the application has taken these inputs, and that its record is that of the simulated system for them, times
    /// excepted.
    ///
    /// The inputs of one step may come in any order: whether a window manager that minimizes a window takes away first the focus
    /// or first the window differs from time to time.
    @MainActor private func expectRecord(of game: GameProgram, _ steps: [Set<String>]) async throws {
      let records = game.records.map(\.withoutTime)
      let inputs = records.filter { $0.kind == .input }.map(\.name)
      var rest = inputs[...]
      for step in steps {
        #expect(Set(rest.prefix(step.count)) == step, "the inputs are \(inputs)")
        rest = rest.dropFirst(step.count)
      }
      #expect(rest == [])
      let simulated = SimulatedGame()
      try await simulated.play(inputs.joined(separator: "; "))
      let expected = simulated.system.record.map(\.withoutTime)
      #expect(records == expected, "\(records.table)\n--- is not\n\(expected.table)")
    }
  }

  extension LifecycleRecord {
    /// The record without its time.
    ///
    /// The simulated system calls `kill` what SIGTERM is for a real process.
    fileprivate var withoutTime: LifecycleRecord {
      var record = self
      record.instant = .zero
      if record.cause == "SIGTERM" { record.cause = "kill" }
      return record
    }
  }
#endif

@Suite struct ProgramTests {
  #if canImport(CSDL)
    @Test func withoutADisplayTheProgramSaysSo() async throws {
      let program = try await runProgram(
        [builtProduct("PausingGame")], environment: ["DISPLAY": ":nowhere", "SDL_VIDEODRIVER": "x11"])
      #expect(program.ending == .exited(69))
      #expect(program.errors.hasPrefix("PausingGame: no window can be opened: "))
    }
  #else
    @Test func withoutSDLTheProgramSaysWhatItNeeds() async throws {
      print("skipped in real windows: built without SDL 2")
      let program = try await runProgram([builtProduct("PausingGame")])
      #expect(program.ending == .exited(69))
      #expect(program.errors.contains("apt-get install libsdl2-dev"))
      #expect(program.errors.contains("swift run --traits SDL PausingGame"))
      #expect(program.output == "")
    }
  #endif

  @Test func anUnknownOptionIsNamed() async throws {
    let program = try await runProgram([builtProduct("PausingGame"), "--fast"])
    #expect(program.ending == .exited(64))
    #expect(program.errors.contains("“--fast”"))
  }
}
