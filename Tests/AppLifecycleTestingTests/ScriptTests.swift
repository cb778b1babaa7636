import AppLifecycle
import AppLifecycleTesting
import PubSub
import Scheduling
import TestTraits
import Testing

@Suite struct ScriptTests {
  @Test func `every input of the system is read from the word that stands for it`() throws {
    let sent: [SystemInput] = [
      .launch, .launchInBackground, .open, .home, .lock, .unlock, .setPasscode(true), .setPasscode(false),
      .beginInterruption(.call), .beginInterruption("any_Other.name-1"), .endInterruption("faceID"),
      .memoryWarning, .significantTimeChange, .fetch, .suspend, .wake, .terminate,
    ]
    let actions = DeviceInput.allCases.filter { $0 != .purge }
    let inputs = sent.map(LifecycleInput.system) + actions.map(LifecycleInput.device)
    for input in inputs {
      #expect(try Script(input.scriptToken).actions.map(\.kind) == [.input(input)])
    }
    #expect(
      try Script(inputs.map(\.scriptToken).joined(separator: " ")).actions.map(\.kind) == inputs.map { .input($0) })
  }

  @Test(
    arguments: [
      ("wait:0s", ScriptAction.Kind.wait(.zero)), ("wait:500ms", .wait(.milliseconds(500))),
      ("wait:5s", .wait(.seconds(5))), ("wait:007s", .wait(.seconds(7))), ("wait:2m", .wait(.seconds(120))),
      ("wait:1h", .wait(.seconds(3_600))), ("wait:1d", .wait(.seconds(86_400))),
      ("wait:999999999999d", .wait(.seconds(999_999_999_999 * 86_400))),
      ("wait:999999999999ms", .wait(.milliseconds(999_999_999_999))),
      ("task:begin:save", .beginTask("save")), ("task:end:save", .endTask("save")),
      ("mode:begin:audio", .beginMode("audio")), ("mode:end:audio", .endMode("audio")),
      ("scene:connect:main", .input(.system(.connectScene(.main)))),
      ("scene:open:a.b", .input(.system(.openScene("a.b")))),
      ("scene:background:1", .input(.system(.sendSceneToBackground("1")))),
      ("scene:reclaim:-", .input(.system(.reclaimScene("-")))),
      ("scene:close:_", .input(.system(.closeScene("_")))), ("scene:unfocus:a", .input(.system(.unfocusScene("a")))),
      ("scene:focus:a", .input(.system(.focusScene("a")))),
      ("slow:didEnterBackground:4s", .slow(call: "didEnterBackground", duration: .seconds(4))),
      ("fail:save", .failSave), ("host:stop", .hostStop), ("host:end", .hostEnd),
    ])
  func `actions with arguments`(token: String, kind: ScriptAction.Kind) throws {
    #expect(try Script(token).actions.map(\.kind) == [kind])
  }

  @Test func `every call of a delegate can be slow, applications' without their prefix, and so can a save`() throws {
    let calls = [
      "willFinishLaunching", "didFinishLaunching", "didBecomeActive", "willResignActive", "didEnterBackground",
      "willEnterForeground", "willTerminate", "didReceiveMemoryWarning", "significantTimeChange",
      "protectedDataWillBecomeUnavailable", "protectedDataDidBecomeAvailable", "sceneWillConnect",
      "sceneWillEnterForeground", "sceneDidBecomeActive", "sceneWillResignActive", "sceneDidEnterBackground",
      "sceneDidDisconnect", "save",
    ]
    for call in calls {
      #expect(try Script("slow:\(call):1s").actions.map(\.kind) == [.slow(call: call, duration: .seconds(1))])
    }
  }

  @Test func `white space, semicolons, new lines and comments separate tokens`() throws {
    let texts = [
      "launch home", "launch;home", ";;launch;\t ;home;", "launch\nhome\n", "launch\r\nhome", "launch\rhome",
      "# a script\nlaunch # the user; starts\nhome#\n".replacing("home#", with: "home ;#"), "launch;#x;kill\nhome",
      "launch\u{A0}home\u{2028}",
    ]
    for text in texts {
      #expect(try Script(text).actions.map(\.token) == ["launch", "home"], "\(text.debugDescription)")
    }
    for text in ["", " ", ";", "# nothing", "#", "\n\n#launch\r\n"] {
      #expect(try Script(text).actions.isEmpty, "\(text.debugDescription)")
    }
  }

  @Test func `actions know their places, in characters from 1`() throws {
    let script = try Script("launch;  home # caffè 👩‍👩‍👧\r\n\topen\r\n\r\n  wait:1d;kill")
    #expect(
      script.actions.map { "\($0.line):\($0.column) \($0.token)" } == [
        "1:1 launch", "1:10 home", "2:2 open", "4:3 wait:1d", "4:11 kill",
      ])
  }

  @Test(
    arguments: [
      // The place: of the token's first character; accents, joined emoji and CRLF count as one.
      ("launch; nope", "1:9: unknown action \"nope\""),
      ("nope", "1:1: unknown action \"nope\""),
      ("launch\n  home\n nope; launch", "3:2: unknown action \"nope\""),
      ("launch\r\nhome\r\nnope", "3:1: unknown action \"nope\""),
      ("cafe\u{301}", "1:1: unknown action \"cafe\\u{301}\""),
      ("end:a interrupt:b;👩‍👩‍👧", "1:19: unknown action \"\\u{1F469}\\u{200D}\\u{1F469}\\u{200D}\\u{1F467}\""),
      ("# e\u{301}👩‍👩‍👧\nhome\u{A0}nope", "2:6: unknown action \"nope\""),
      // The first mistake is told.
      ("launch nope1 nope2", "1:8: unknown action \"nope1\""),
      // A comment starts where a token could, not inside one.
      ("home#comment", "1:1: unknown action \"home#comment\""),
      ("wait:1s#comment", "1:1: malformed duration in \"wait:1s#comment\": \(durationHint)"),
      // What cannot be printed is escaped.
      ("\u{1B}[2Jlaunch", "1:1: unknown action \"\\u{1B}[2Jlaunch\""),
      ("la\u{0}unch\u{7F}", "1:1: unknown action \"la\\u{0}unch\\u{7F}\""),
      ("\"a\\b\"", "1:1: unknown action \"\\\"a\\\\b\\\"\""),
      ("\u{FEFF}launch", "1:1: unknown action \"\\u{FEFF}launch\""),
      (" \u{301}launch", "1:1: unknown action \" \\u{301}launch\""),
      ("launch\u{37E}home", "1:1: unknown action \"launch\\u{37E}home\""),
      (";\u{301}launch", "1:1: unknown action \";\\u{301}launch\""),
      // Words.
      ("Launch", "1:1: unknown action \"Launch\""),
      ("launch:", "1:1: malformed action \"launch:\": expected launch or launch:background"),
      ("launch:foreground", "1:1: malformed action \"launch:foreground\": expected launch or launch:background"),
      ("home:", "1:1: unknown action \"home:\""),
      // What the system does to an application that misbehaved follows from what that did.
      ("purge", "1:1: unknown action \"purge\""),
      (":", "1:1: unknown action \":\""),
      ("passcode", "1:1: malformed action \"passcode\": expected passcode:on or passcode:off"),
      ("passcode:ON", "1:1: malformed action \"passcode:ON\": expected passcode:on or passcode:off"),
      (
        "switcher:close",
        "1:1: malformed action \"switcher:close\": expected switcher, switcher:return, switcher:leave or switcher:kill"
      ),
      ("interrupt", "1:1: malformed action \"interrupt\": expected interrupt:NAME"),
      ("end:a:b", "1:1: malformed action \"end:a:b\": expected end:NAME"),
      ("task:save", "1:1: malformed action \"task:save\": expected task:begin:NAME or task:end:NAME"),
      ("mode:start:x", "1:1: malformed action \"mode:start:x\": expected mode:begin:NAME or mode:end:NAME"),
      (
        "scene:move:x",
        "1:1: malformed action \"scene:move:x\": expected scene:STEP:ID with connect, open, background, unfocus, focus, reclaim or close"
      ),
      ("slow:didEnterBackground", "1:1: malformed action \"slow:didEnterBackground\": expected slow:CALL:DURATION"),
      ("fail", "1:1: malformed action \"fail\": expected fail:save"),
      ("fail:didEnterBackground", "1:1: malformed action \"fail:didEnterBackground\": expected fail:save"),
      ("host:kill", "1:1: malformed action \"host:kill\": expected host:stop or host:end"),
      ("host:stop:now", "1:1: malformed action \"host:stop:now\": expected host:stop or host:end"),
      ("fail:save:1s", "1:1: malformed action \"fail:save:1s\": expected fail:save"),
      ("slow:save", "1:1: malformed action \"slow:save\": expected slow:CALL:DURATION"),
      // Names.
      ("interrupt:", "1:1: a name is missing in \"interrupt:\""),
      ("scene:open:", "1:1: a name is missing in \"scene:open:\""),
      ("interrupt:a/b", "1:1: malformed name in \"interrupt:a/b\": expected letters, digits, _, . and -"),
      ("task:begin:a#b", "1:1: malformed name in \"task:begin:a#b\": expected letters, digits, _, . and -"),
      ("interrupt:anru\u{301}f", "1:1: unknown action \"interrupt:anru\\u{301}f\""),
      // Durations.
      ("wait", "1:1: malformed action \"wait\": expected wait:DURATION"),
      ("wait:", "1:1: malformed duration in \"wait:\": \(durationHint)"),
      ("wait:5", "1:1: malformed duration in \"wait:5\": \(durationHint)"),
      ("wait:s", "1:1: malformed duration in \"wait:s\": \(durationHint)"),
      ("wait:-5s", "1:1: malformed duration in \"wait:-5s\": \(durationHint)"),
      ("wait:+5s", "1:1: malformed duration in \"wait:+5s\": \(durationHint)"),
      ("wait:1.5s", "1:1: malformed duration in \"wait:1.5s\": \(durationHint)"),
      ("wait:5S", "1:1: malformed duration in \"wait:5S\": \(durationHint)"),
      ("wait:5sec", "1:1: malformed duration in \"wait:5sec\": \(durationHint)"),
      ("wait:1000000000000s", "1:1: malformed duration in \"wait:1000000000000s\": \(durationHint)"),
      ("wait:0000000000001s", "1:1: malformed duration in \"wait:0000000000001s\": \(durationHint)"),
      ("wait:٣s", "1:1: unknown action \"wait:\\u{663}s\""),
      ("slow:didEnterBackground:4", "1:1: malformed duration in \"slow:didEnterBackground:4\": \(durationHint)"),
      // Calls.
      (
        "slow:applicationDidEnterBackground:4s",
        "1:1: unknown call in \"slow:applicationDidEnterBackground:4s\": \(callHint)"
      ),
      ("slow:DidEnterBackground:4s", "1:1: unknown call in \"slow:DidEnterBackground:4s\": \(callHint)"),
      ("slow::4s", "1:1: unknown call in \"slow::4s\": \(callHint)"),
    ])
  func `mistakes are told with line, column and the token in printable ASCII`(text: String, message: String) {
    let error = #expect(throws: ScriptError.self) { try Script(text) }
    #expect(error?.description == message)
    #expect(error?.description.utf8.allSatisfy { (0x20...0x7E).contains($0) } == true)
  }

  @Test(.longRunning) func `random texts are read or refused, never a trap, and a mistake names a place in the text`() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix64(seed: seed)
    let pieces = [
      "launch", "home", "wait:", "5s", "slow:", ":", ";", "#", " ", "\n", "\r\n", "\r", "\u{301}", "é", "👩‍👩‍👧", "\u{0}",
      "interrupt:", "scene:open:", "a", "1", "999999999999", "d", "-", "\u{2028}", "didEnterBackground",
    ]
    var (accepted, refused) = (0, 0)
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 0...8, using: &random)).map { _ in pieces.randomElement(using: &random)! }.joined()
      do throws(ScriptError) {
        _ = try Script(text)
        accepted += 1
      } catch {
        refused += 1
        #expect(error.line >= 1 && error.column >= 1 && error.column <= text.count, "seed \(seed)")
        #expect(text.contains(error.token), "seed \(seed)")
      }
    }
    print("random scripts, seed \(seed): \(accepted) accepted, \(refused) refused")
    #expect(accepted > 0 && refused > 0, "seed \(seed)")
  }
}

private let durationHint = "expected up to 12 digits and a unit, ms, s, m, h or d, as in 500ms"
private let callHint = "expected save or a delegate method, such as didEnterBackground or sceneDidBecomeActive"
