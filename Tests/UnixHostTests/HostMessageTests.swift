import AppLifecycle
import PubSub
import Scheduling
import TestTraits
import Testing

@testable import UnixHost

/// Messages of hosts, and where they go.
///
/// The sink is the process's: one test after another.
@Suite(.serialized, .timeLimit(.hang)) struct HostMessageTests {
  private let overrun = BudgetOverrun(callback: .willTerminate, budget: .seconds(5), culprits: [])

  @Test func anOperationOutsideATearDownIsNamed() {
    let late = BudgetOverrun(
      callback: .didEnterBackground, budget: .seconds(5), culprits: ["feed"], operation: .release)
    #expect(HostMessage(late).text == "the release of feed overran its budget of 5.0 seconds")
    #expect(HostMessage(late.namingEachOnce) == HostMessage(late))
  }

  private func call(
    _ name: String, _ kind: LedgerEntry.Kind = .subscriber, isSynchronous: Bool = true, id: UInt64 = 1
  ) -> TracedCall {
    TracedCall(
      LedgerEntry(kind, name, step: "applicationWillTerminate", began: .zero, duration: .zero), id: id,
      isSynchronous: isSynchronous)
  }

  /// Redirects with a patience that no slow machine uses up.
  private func redirect(to sink: @escaping @Sendable (HostMessage) -> Void) {
    HostMessage.redirect(to: sink, patience: .seconds(3600))
  }

  @Test func anOverrunNamesWhatTheMainActorHasNamed() {
    var overrun = overrun
    overrun.culprits = ["a", "b"]
    #expect(
      HostMessage(overrun, openCalls: [call("c")]).text
        == "the tear-down of applicationWillTerminate overran its budget of 5.0 seconds: a, b")
  }

  @Test func aBlockedMainActorIsThatOfTheInnermostSynchronousCall() {
    let calls = [call("outer", .delegate), call("inner"), call("later", isSynchronous: false)]
    #expect(
      HostMessage(overrun, openCalls: calls).text
        == "the tear-down of applicationWillTerminate overran its budget of 5.0 seconds: "
        + "inner, handler of applicationWillTerminate, blocks the main actor")
    #expect(HostMessage(overrun, openCalls: [call("outer", .delegate)]).text.hasSuffix(": outer blocks the main actor"))
  }

  @Test func otherwiseAllThatHasBegunIsNamed() {
    let calls = [call("a", isSynchronous: false), call("b", .resource, isSynchronous: false, id: 2)]
    #expect(
      HostMessage(overrun, openCalls: calls).text.hasSuffix(
        "the main actor did not answer; begun and not ended: a (applicationWillTerminate), b (applicationWillTerminate)"
      ))
    #expect(HostMessage(overrun).text.hasSuffix(": the main actor did not answer"))
  }

  @Test func aSinkGetsTheMessagesInOrder() {
    let messages = Guarded<[HostMessage]>([])
    redirect { message in messages.withLock { $0.append(message) } }
    defer { HostMessage.redirect(to: nil) }
    let sent = [HostMessage(.notice, "one"), HostMessage(.warning, "two\u{1B}"), HostMessage(.error, "three")]
    for message in sent { message.send() }
    #expect(messages.withLock { $0 } == sent)
    #expect(sent[1].text == #"two\u{1B}"#)
  }

  @Test func aSlowSinkLosesNothingOfTwoSenders() async {
    let messages = Guarded<[String]>([])
    let isInside = AsyncStream.makeStream(of: Void.self)
    let gate = Guarded(true)
    redirect { message in
      isInside.continuation.yield()
      while gate.withLock({ $0 }) {}
      messages.withLock { $0.append(message.text) }
    }
    defer { HostMessage.redirect(to: nil) }
    HostMessage(.notice, "first").send(waits: false)
    for await _ in isInside.stream { break }
    HostMessage(.notice, "second").send(waits: false)
    gate.withLock { $0 = false }
    HostMessage(.error, "third").send()
    #expect(messages.withLock { $0 } == ["first", "second", "third"])
  }

  @Test func aNewSinkIsNotThatOfTheOneThatHangs() async {
    let gate = Guarded(true)
    let isInside = AsyncStream.makeStream(of: Void.self)
    HostMessage.redirect { _ in
      isInside.continuation.yield()
      while gate.withLock({ $0 }) {}
    }
    HostMessage(.notice, "hangs").send(waits: false)
    for await _ in isInside.stream { break }
    let messages = Guarded<[String]>([])
    redirect { message in messages.withLock { $0.append(message.text) } }
    HostMessage(.notice, "arrives").send()
    #expect(messages.withLock { $0 } == ["arrives"])
    gate.withLock { $0 = false }
    HostMessage.redirect(to: nil)
  }

  @Test func whatASinkThatHangsHasNotTakenBelongsOnStandardError() async {
    let gate = Guarded(true)
    let isInside = AsyncStream.makeStream(of: Void.self)
    let sink = MessageSink(patience: .zero) { _ in
      isInside.continuation.yield()
      while gate.withLock({ $0 }) {}
    }
    let messages = ["first", "second", "third", "fourth"].map { HostMessage(.notice, $0) }
    #expect(sink.take(messages[0], waits: false).isEmpty)
    for await _ in isInside.stream { break }
    #expect(sink.take(messages[1], waits: false).isEmpty)
    #expect(sink.take(messages[2], waits: true) == [messages[1], messages[2]])
    #expect(sink.take(messages[3], waits: false) == [messages[3]])
    gate.withLock { $0 = false }
  }

  /// A sender may give up just after the last call has returned, and before its thread ends.
  @Test func noSinkIsLateWithoutAThreadThatCallsIt() {
    var state = MessageSink.State(isRunning: true, isLate: true)
    #expect(state.next() == nil)
    #expect(!state.isRunning && !state.isLate)
  }

  /// An adapter may undo its redirection when it is released.
  @Test func aSinkMayRedirectWhenItIsReleased() {
    final class Adapter: Sendable {
      deinit { HostMessage.redirect(to: nil) }
    }
    let adapter = Adapter()
    HostMessage.redirect { [adapter] _ in withExtendedLifetime(adapter) {} }
    HostMessage.redirect { _ in }
    HostMessage.redirect(to: nil)
  }

  /// A sink that waits for the main actor, or for a lock that the sender holds, holds up no host.
  @Test func aSinkThatDoesNotReturnIsDoneWithout() async {
    let gate = Guarded(true)
    let calls = Guarded(0)
    let hasReturned = AsyncStream.makeStream(of: Void.self)
    HostMessage.redirect { _ in
      calls.withLock { $0 += 1 }
      while gate.withLock({ $0 }) {}
      hasReturned.continuation.yield()
    }
    HostMessage(.error, "test of a sink that does not return: this line belongs on standard error").send()
    // The next one does not even try.
    HostMessage(.error, "test of a sink that does not return: and so does this").send()
    #expect(calls.withLock { $0 } == 1)
    gate.withLock { $0 = false }
    for await _ in hasReturned.stream { break }
    HostMessage.redirect(to: nil)
  }
}
