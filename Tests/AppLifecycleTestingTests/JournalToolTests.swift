import AppLifecycle
import AppLifecycleTesting
import Foundation
import LifecycleJournal
import PubSub
import TestFiles
import TestTraits
import Testing

@testable import lifecycle

/// What all commands that read a journal have in common: names, wrong usage, help, completion.
@Suite(.timeLimit(.hang)) struct JournalToolTests: JournalToolSuite {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test func `names has every event with the name that it is posted under`() throws {
    let rows = try lines(Tool.run("names").output).map { $0.split(separator: " ").map(String.init) }
    #expect(rows.count == 1 + ApplicationCallback.allCases.count + 1 + SceneCallback.allCases.count)
    func raw(_ event: String) -> String? { rows.first { $0.first == event }?.last }
    let events: [(String, any EventBus.Event.Type)] = [
      ("Application.DidFinishLaunching", Application.DidFinishLaunching.self),
      ("Application.DidBecomeActive", Application.DidBecomeActive.self),
      ("Application.WillResignActive", Application.WillResignActive.self),
      ("Application.DidEnterBackground", Application.DidEnterBackground.self),
      ("Application.WillEnterForeground", Application.WillEnterForeground.self),
      ("Application.WillTerminate", Application.WillTerminate.self),
      ("Application.DidReceiveMemoryWarning", Application.DidReceiveMemoryWarning.self),
      ("Application.SignificantTimeChange", Application.SignificantTimeChange.self),
      ("Application.ProtectedDataWillBecomeUnavailable", Application.ProtectedDataWillBecomeUnavailable.self),
      ("Application.ProtectedDataDidBecomeAvailable", Application.ProtectedDataDidBecomeAvailable.self),
      ("Application.StateDidChange", Application.StateDidChange.self),
      ("Scene.WillConnect", Application.Scene.WillConnect.self),
      ("Scene.WillEnterForeground", Application.Scene.WillEnterForeground.self),
      ("Scene.DidActivate", Application.Scene.DidActivate.self),
      ("Scene.WillDeactivate", Application.Scene.WillDeactivate.self),
      ("Scene.DidEnterBackground", Application.Scene.DidEnterBackground.self),
      ("Scene.DidDisconnect", Application.Scene.DidDisconnect.self),
    ]
    for (name, type) in events { #expect(raw(name) == type.name.rawValue) }
    #expect(try lines(Tool.run("names", "--json").output).count == rows.count - 1)
  }

  @Test(
    arguments: [
      (["log"], "'log' needs a journal"), (["log", "a", "b"], "'log' takes one file, not 'b', too"),
      (["log", "--since", "soon", "a"], "--since is '10m'"),
      (["log", "--since", "2026-02-30", "a"], "--since is '10m'"),
      (["timeline", "--until", "soon", "a"], "--until is '10m'"),
      (["log", "--json=yes", "a"], "this option takes no value: '=yes'"), (["log", "--session"], "--session needs"),
      (["log", "--color", "red", "a"], "--color is auto or always or never, not 'red'"),
      (["sessions", "--fast", "a"], "there is no option '--fast'"), (["names", "a"], "'names' takes no 'a'"),
      (["timeline", "a"], "'timeline' needs -o"),
      (["timeline", "a", "-o", "b"], "choose the format of 'b' by its ending"),
      (["timeline", "a", "-o"], "-o needs a file"), (["completion"], "'completion' needs a shell: bash, zsh or fish"),
      (["completion", "csh"], "'completion' needs a shell"), (["help", "lag"], "no command 'lag'"),
      (["lag"], "there is no command 'lag'; did you mean 'log'?"), (["help", "time-line"], "did you mean 'timeline'?"),
      (
        ["log", "--sesion", "1", "a"],
        "there is no option '--sesion'; did you mean '--session'?\nTry 'lifecycle log --help'."
      ),
      ([String(repeating: "log", count: 100)], "there is 'simulate'"),
      (["sessions", "--hepl"], "did you mean '--help'?"), (["log", "--zzz", "a"], "there is no option '--zzz'\nTry"),
      (["play"], "there is 'simulate', 'log', 'sessions', 'timeline', 'fleet', 'states', 'names', 'completion'"),
    ] as [([String], String)])
  func `wrong usage is explained on standard error, status 64`(arguments: [String], message: String) throws {
    let result = try Tool.run(arguments)
    #expect(result.status == 64 && result.output == "")
    #expect(result.error.contains(message), "\(result.error)")
  }

  @Test func `fleet takes the last broker that is named, whole`() throws {
    func broker(_ words: String...) throws -> String {
      var arguments = Arguments((words + ["--tls"])[...], of: try #require(Command.named("fleet")))
      let command = try FleetCommand(&arguments)
      return "\(command.host) \(command.port.map(String.init) ?? "default")"
    }
    #expect(try broker("--broker", "a:1884") == "a 1884" && broker("--broker", "a", "--broker", "b:1") == "b 1")
    #expect(try broker("--broker", "a:1884", "--broker", "b") == "b default")
  }

  @Test(arguments: ["log", "sessions", "timeline"])
  func `a file that is not there, or cannot be read, is an error, status 74`(command: String) throws {
    let output = command == "timeline" ? ["-o", folder.path + "/page.html"] : []
    let missing = try Tool.run([command, "/nonexistent/trips.jsonl"] + output)
    #expect(
      missing.status == 74
        && missing.error == "lifecycle: cannot open /nonexistent/trips.jsonl: No such file or directory\n")
    let directory = try Tool.run([command, folder.path] + output)
    #expect(directory.status == 74 && directory.error.hasPrefix("lifecycle: cannot read \(folder.path): "))
    let pipe = try Tool.run([command, "/dev/stdin"] + output, input: "{}\n")
    #expect(
      pipe.status == 74
        && pipe.error == "lifecycle: cannot read /dev/stdin: a journal is read from a file, not from a pipe\n")
    // A name is shown, not obeyed.
    let hostile = try Tool.run([command, "/nonexistent/\u{1B}[2J"] + output)
    #expect(hostile.error == "lifecycle: cannot open /nonexistent/\\u{1B}[2J: No such file or directory\n")
  }

  @Test(arguments: ["log", "sessions", "timeline", "fleet", "states", "names", "completion", "simulate"])
  func `help teaches each command, within 80 columns`(command: String) throws {
    let help = try Tool.run(command, "--help")
    #expect(help.status == 0 && help.error == "" && help.output.contains("lifecycle \(command)"))
    #expect(try Tool.run("help", command) == help)
    #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    #expect(try Tool.run("help").output.contains("\n  \(command)"))
  }

  @Test(arguments: [
    ("log", "or there is no such run"), ("timeline", "or there is no such run"),
    ("sessions", "another machine looks the same"), ("timeline", "another machine looks as if the device"),
  ])
  func `help says what a status and an end may mean, too`(command: String, text: String) throws {
    let words = try Tool.run("help", command).output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains(text))
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `each shell understands its completion`(shell: String) throws {
    let script = try Tool.run("completion", shell).output
    let follow = shell == "fish" ? "-l follow" : "--follow"
    for word in ["simulate", "sessions", "timeline", follow] { #expect(script.contains(word)) }
    let isThere = try Tool.shell("command -v \(shell)", input: "").status == 0
    guard isThere else { return print("skipped: there is no \(shell) here") }
    #expect(try Tool.shell("\(shell) -n /dev/stdin", input: script) == Tool.Result(status: 0, output: "", error: ""))
    guard shell == "bash" else { return }
    // The words of a command line, the last of which is to be completed, and what they become; files are the shell's own.
    let cases = [
      ("lifecycle log --color a", "auto always"), ("lifecycle se", "sessions"), ("lifecycle log --f", "--follow"),
      ("lifecycle log ''", ""), ("lifecycle timeline a -o ''", ""), ("lifecycle timeline -o a --se", "--session"),
      ("lifecycle timeline -o a --u", "--until"), ("lifecycle log -f", "-f"),
      ("lifecycle timeline --ou", "--output"), ("lifecycle timeline a --output ''", ""),
      ("lifecycle completion f", "fish"), ("lifecycle help lo", "log"),
      ("lifecycle simulate --profile ''", "app scene"),
    ]
    let asked = cases.reduce(script) { text, pair in
      text + "COMP_WORDS=(\(pair.0)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _lifecycle; echo ${COMPREPLY[@]}\n"
    }
    #expect(try Tool.shell("bash /dev/stdin", input: asked).output == cases.map { $0.1 + "\n" }.joined())
  }
}
