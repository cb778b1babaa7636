import AppLifecycle
import Testing

@testable import UnixHost

/// When the host looks at its signals, and what it says.
@Suite struct SignalWatchTests {
  private typealias Finding = SignalWatch.Finding

  @Test func itLooksAtOnceAndThenLessAndLessOften() {
    var watch = SignalWatch()
    #expect(watch.deadline == nil && !watch.isThorough(at: .seconds(9)))
    watch.begin(at: .seconds(10))
    var looks: [Duration] = []
    var wakes: [Duration] = []
    for milliseconds in 10_000..<20_000 {
      let now = Duration.milliseconds(milliseconds)
      if let deadline = watch.deadline, deadline == now { wakes.append(now - .seconds(10)) }
      if watch.isThorough(at: now) { looks.append(now - .seconds(10)) }
      #expect(watch.take([], at: now) == nil)
    }
    #expect(looks == [.zero, .milliseconds(20), .milliseconds(1_020)])
    // The last look waits for the thread's own second.
    #expect(wakes == Array(looks.dropLast()))
  }

  @Test func aTakenSignalMakesItLookAgain() {
    var watch = SignalWatch()
    let finding = Finding(signal: .terminate, holder: .ignoringCode)
    #expect(watch.take([finding], at: .seconds(5)) == nil)
    #expect(watch.deadline == .milliseconds(5_020))
    // A library that takes it again and again does not keep the thread awake.
    #expect(watch.take([finding], at: .milliseconds(5_020)) != nil)
    #expect(watch.deadline == nil && !watch.isThorough(at: .milliseconds(6_019)))
    #expect(watch.isThorough(at: .milliseconds(6_020)))
  }

  @Test func allThatALibraryTakesIsOneMessage() throws {
    var watch = SignalWatch()
    let first = [Finding(signal: .terminate, holder: .handler(library: "libdispatch.so"))]
    let second = [
      Finding(signal: .interrupt, holder: .handler(library: "libdispatch.so")),
      Finding(signal: .hangUp, holder: .ignoringCode), Finding(signal: .terminate, holder: .descriptor),
    ]
    #expect(watch.take(first, at: .zero) == nil)
    #expect(watch.take(second, at: .milliseconds(10)) == nil)
    // The thread is awake for another reason.
    #expect(watch.take([], at: .milliseconds(29)) == nil)
    let third = watch.take([], at: .milliseconds(30))
    let message = try #require(third)
    #expect(message.severity == .warning)
    #expect(
      message.text == """
        SIGTERM and SIGINT had a handler of other code (in libdispatch.so), SIGHUP had been set to be ignored; the host \
        has taken them back. Configure the library without signals of its own, such as “gracefulShutdownSignals: []”
        """)
    #expect(watch.take([Finding(signal: .terminate, holder: .descriptor)], at: .seconds(1)) == nil)
    #expect(watch.finish() == nil)
  }

  // MARK: An order before the look

  private static let budget = Duration.seconds(5)
  private static let web = ReturnedRun(name: "web", began: .seconds(-60))

  @Test(arguments: [(0, true), (5_000, true), (5_001, false)])
  func aReturnIsAnOrderIfSIGTERMWasElsewhereWithinTheBudget(milliseconds: Int, isOrder: Bool) {
    var watch = SignalWatch()
    watch.begin(at: .seconds(10))
    _ = watch.take([Finding(signal: .terminate, holder: .handler(library: nil))], at: .seconds(10))
    let now = Duration.milliseconds(10_000 + milliseconds)
    let found = watch.takeReturn(of: Self.web, at: now, within: Self.budget)
    #expect((found != nil) == isOrder)
    if let (order, message) = found {
      #expect(order == SignalRecord(signal: .terminate, arrived: .seconds(10), taken: now))
      #expect(message.severity == .warning)
      #expect(
        message.text == "“web” returned while other code had SIGTERM; the host takes this for an order to end")
    }
  }

  @Test(arguments: [(10_001, false), (10_000, true)])
  func aRunThatBeganAfterTheLookHasReceivedNothing(milliseconds: Int, isOrder: Bool) {
    var watch = SignalWatch()
    _ = watch.take([Finding(signal: .terminate, holder: .descriptor)], at: .seconds(10))
    let run = ReturnedRun(name: "poll", began: .milliseconds(milliseconds))
    #expect((watch.takeReturn(of: run, at: .seconds(12), within: Self.budget) != nil) == isOrder)
  }

  @Test(arguments: [SignalWatch.Holder.ignoringCode, .restoringCode])
  func codeThatCannotHaveReceivedItExplainsNothing(holder: SignalWatch.Holder) {
    var watch = SignalWatch()
    _ = watch.take([Finding(signal: .terminate, holder: holder)], at: .zero)
    #expect(watch.takeReturn(of: Self.web, at: .zero, within: Self.budget) == nil)
  }

  @Test func aFindingExplainsOneReturnAndTheNextFindingAnother() {
    var watch = SignalWatch()
    let finding = Finding(signal: .terminate, holder: .descriptor)
    func isOrder(at second: Int) -> Bool {
      watch.takeReturn(of: Self.web, at: .seconds(second), within: Self.budget) != nil
    }
    #expect(!isOrder(at: 0))
    _ = watch.take([finding], at: .seconds(1))
    #expect(isOrder(at: 2) && !isOrder(at: 3))
    // The signal is known, and the message about it has been sent.
    _ = watch.take([finding], at: .seconds(4))
    #expect(isOrder(at: 5))
  }

  @Test func anotherSignalThanSIGTERMExplainsNothing() {
    var watch = SignalWatch()
    _ = watch.take([Finding(signal: .interrupt, holder: .descriptor)], at: .zero)
    #expect(watch.takeReturn(of: Self.web, at: .zero, within: Self.budget) == nil)
  }

  @Test func onlyAReturnAfterWhichItWouldRunAgainMayFollowAnOrder() {
    func may(_ sequel: Application.RunDidEnd.Sequel, error: String? = nil) -> Bool {
      SignalWatch.mayFollowAnOrder(error: error, sequel)
    }
    #expect(may(.invalidate) && may(.again(after: .seconds(1), failures: 1)))
    #expect(!may(.invalidate, error: "the port is taken") && !may(.again(after: .zero, failures: 1), error: "gone"))
    for sequel in [Application.RunDidEnd.Sequel.rest, .shutDown(status: 1), .throwToCaller, .close, .over] {
      #expect(!may(sequel))
    }
  }

  /// It waits for the thread until the process ends.
  @Test func aSignalThatIsStuckArrivesOnce() {
    var watch = SignalWatch()
    #expect(!watch.hasFindings)
    _ = watch.take([Finding(signal: .terminate, holder: .descriptor)], at: .seconds(1))
    #expect(watch.hasFindings)
    let record = SignalRecord(signal: .terminate, arrived: .seconds(1), taken: .seconds(1))
    #expect(watch.takeStuck([.terminate], at: .seconds(1)) == [record])
    #expect(watch.takeStuck([.terminate, .hangUp], at: .seconds(2)).map(\.signal) == [.hangUp])
  }

  @Test func theEndOfTheHostReportsTheRest() throws {
    var watch = SignalWatch()
    #expect(watch.take([Finding(signal: .quit, holder: .handler(library: nil))], at: .zero) == nil)
    let last = watch.finish()
    let message = try #require(last)
    #expect(message.text.hasPrefix("SIGQUIT had a handler of other code; the host has taken it back. "))
    #expect(watch.finish() == nil)
  }
}
