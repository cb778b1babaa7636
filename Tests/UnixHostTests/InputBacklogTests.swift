import Scheduling
import Testing

@testable import UnixHost

/// How much of the terminal's input waits for a main actor that is busy, and what happens to the rest.
@Suite struct InputBacklogTests {
  @Test func `A backlog is full from its limit on, and says when there is room again`() {
    let calls = Guarded(0)
    let backlog = InputBacklog { calls.withLock { $0 += 1 } }
    let half = InputBacklog.limit / 2
    backlog.add(half)
    #expect(!backlog.isFull)
    backlog.add(half)
    #expect(backlog.isFull)
    backlog.add(half)
    backlog.remove(half)
    #expect(backlog.isFull && calls.withLock { $0 } == 0)
    backlog.remove(half)
    #expect(!backlog.isFull && calls.withLock { $0 } == 1)
    backlog.remove(half)
    #expect(calls.withLock { $0 } == 1)
  }

  @Test func `One drawing waits at a time`() {
    let backlog = InputBacklog {}
    #expect(backlog.addDisplay() && !backlog.addDisplay() && !backlog.addDisplay())
    backlog.removeDisplay()
    #expect(backlog.addDisplay())
  }

  @Test func `An event costs its bytes, its keys and the text of its pastes`() {
    let empty = InputBacklog.cost(of: [], [])
    #expect(empty == InputBacklog.eventCost)
    #expect(InputBacklog.cost(of: [], Array(repeating: 0, count: 1000)) == empty + 1000)
    #expect(InputBacklog.cost(of: [.paste(String(repeating: "x", count: 500))], []) == empty + 500)
    #expect(InputBacklog.cost(of: ["q"], [0x71]) > empty + 1)
    // A person who types meanwhile does not fill it in minutes.
    #expect(InputBacklog.limit / InputBacklog.cost(of: ["q"], [0x71]) > 3000)
  }

  @Test func `A full backlog holds the terminal up for a second, and then input is omitted`() {
    let start = SuspendingClock.now
    var omission = InputOmission()
    #expect(omission.follow(isFull: false, now: start) == .init())
    #expect(omission.follow(isFull: true, now: start) == .init() && omission.isHolding)
    #expect(omission.deadline == start + .seconds(1))
    _ = omission.follow(isFull: true, now: start + .seconds(0.9))
    #expect(omission.isHolding && !omission.isOmitting)
    _ = omission.follow(isFull: true, now: start + .seconds(1))
    #expect(!omission.isHolding && omission.isOmitting && omission.deadline == nil)
    omission.omit(bytes: 3)
    omission.omit(focus: false)
    omission.omit(focus: true)
    omission.omit(bytes: .max)
    #expect(omission.follow(isFull: true, now: start + .seconds(9)) == .init() && omission.isOmitting)
    #expect(omission.follow(isFull: false, now: start + .seconds(9)) == .init(bytes: .max, focus: true))
    #expect(omission == InputOmission())
  }

  @Test func `Input waits for the waking up to a limit, and each read by itself`() {
    var waiting = WaitingInput()
    #expect(waiting.isEmpty)
    let typed: [TerminalInputParser.Element] = [.bytes([0x1B]), .focus(false), .bytes([0x5B]), .bytes([0x41])]
    for element in typed { waiting.append(element) }
    #expect(waiting.elements == typed && waiting.omitted == .init())
    for _ in 0..<WaitingInput.limit { waiting.append(.bytes([0x71])) }
    let kept = waiting.elements.count
    #expect(kept > 3000 && kept <= WaitingInput.limit / InputBacklog.eventCost)
    waiting.append(.focus(true))
    #expect(waiting.omitted == .init(bytes: WaitingInput.limit + typed.count - kept, focus: true))
    #expect(waiting.elements.count == kept)
  }

  @Test func `A backlog that has room in time loses nothing`() {
    let start = SuspendingClock.now
    var omission = InputOmission()
    for step in 0..<10 {
      _ = omission.follow(isFull: true, now: start + .seconds(0.9 * Double(step)))
      #expect(omission.isHolding)
      omission.omit(bytes: 1)
      #expect(omission.follow(isFull: false, now: start + .seconds(0.9 * Double(step))) == .init())
      #expect(omission == InputOmission())
    }
  }
}
