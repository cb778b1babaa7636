import AppLifecycle
import Testing

@testable import UnixHost

/// One order to end, its copies, and the next one.
@Suite struct EndOrdersTests {
  private func order(_ signal: CaughtSignal = .terminate, arrived: Duration, taken: Duration) -> SignalRecord {
    SignalRecord(signal: signal, arrived: arrived, taken: taken)
  }

  @Test func theWindowBeginsWhenTheFirstOrderIsTakenUp() {
    var orders = EndOrders(insisting: ["SIGTERM", "SIGINT"])
    #expect(orders.began == nil)
    #expect(orders.take(order(arrived: .seconds(10), taken: .seconds(12))) == .end)
    #expect(orders.began == .seconds(12))
    // It arrived before the first one was taken up: the host's thread had no processor.
    #expect(orders.take(order(arrived: .seconds(11), taken: .seconds(20))) == .copy)
    #expect(orders.take(order(.interrupt, arrived: .milliseconds(12_499), taken: .seconds(20))) == .copy)
    #expect(orders.take(order(.interrupt, arrived: .milliseconds(12_500), taken: .seconds(20))) == .endAtOnce)
  }

  @Test func copiesDoNotExtendTheWindow() {
    var orders = EndOrders(insisting: ["SIGTERM"])
    #expect(orders.take(order(arrived: .zero, taken: .zero)) == .end)
    for tenth in 1...4 {
      let time = Duration.milliseconds(tenth * 100)
      #expect(orders.take(order(arrived: time, taken: time)) == .copy)
    }
    #expect(orders.take(order(arrived: .milliseconds(500), taken: .milliseconds(500))) == .endAtOnce)
  }

  // MARK: An order that asks

  private func interrupt(at time: Duration) -> SignalRecord {
    SignalRecord(signal: .interrupt, isFromKernel: true, arrived: time, taken: time)
  }

  @Test func theFirstAsksTheSecondEndsItTheThirdAtOnce() {
    var orders = EndOrders(asking: ["Ctrl-C"])
    #expect(orders.take(interrupt(at: .zero)) == .ask)
    #expect(orders.take(interrupt(at: .milliseconds(499))) == .copy)
    #expect(orders.take(interrupt(at: .milliseconds(500))) == .end)
    #expect(orders.began == .milliseconds(500))
    #expect(orders.take(interrupt(at: .milliseconds(999))) == .copy)
    #expect(orders.take(interrupt(at: .seconds(1))) == .endAtOnce)
  }

  @Test func anOrderOfAnotherSignalIsNoCopyOfOneThatOnlyAsks() {
    var orders = EndOrders(asking: ["Ctrl-C"])
    #expect(orders.take(interrupt(at: .zero)) == .ask)
    #expect(orders.take(order(arrived: .milliseconds(1), taken: .milliseconds(1))) == .end)
    #expect(orders.take(interrupt(at: .milliseconds(2))) == .copy)
  }

  @Test func onceTheEndHasBegunTheNextOrderEndsItAtOnce() {
    var orders = EndOrders(asking: ["Ctrl-C"])
    #expect(orders.take(interrupt(at: .zero)) == .ask)
    orders.beginEnd()
    #expect(orders.take(interrupt(at: .milliseconds(499))) == .copy)
    #expect(orders.take(interrupt(at: .milliseconds(500))) == .endAtOnce)
  }

  @Test func aForgottenQuestionMakesTheNextOrderAFirstOne() {
    var orders = EndOrders(asking: ["Ctrl-C"])
    #expect(orders.take(interrupt(at: .zero)) == .ask)
    orders.forgetQuestion()
    #expect(orders.take(interrupt(at: .seconds(1))) == .ask)
    #expect(orders.take(interrupt(at: .seconds(2))) == .end)
    orders.forgetQuestion()
    #expect(orders.take(interrupt(at: .seconds(3))) == .endAtOnce)
  }

  // MARK: An order that is repeated

  /// A supervisor repeats its order while the program still saves.
  @Test func onlyAnOrderThatInsistsEndsItAtOnce() {
    var orders = EndOrders()
    #expect(orders.take(order(arrived: .zero, taken: .zero)) == .end)
    for second in 1...100 {
      let time = Duration.seconds(second)
      #expect(orders.take(order(arrived: time, taken: time)) == .copy)
      #expect(orders.take(order(.interrupt, arrived: time, taken: time)) == .copy)
      #expect(orders.take(order(.hangUp, arrived: time, taken: time)) == .copy)
    }
    #expect(orders.began == .zero)
    #expect(orders.take(interrupt(at: .seconds(101))) == .endAtOnce)
  }

  /// The process may need a moment from the end of the host to its own.
  @Test func repetitionsHaveNoEffectAsLongAsTheEndMayTake() {
    var orders = EndOrders()
    #expect(orders.repetitionsEnd(within: .seconds(5)) == nil)
    _ = orders.take(order(arrived: .seconds(1), taken: .seconds(2)))
    #expect(orders.repetitionsEnd(within: .seconds(5)) == .seconds(7))
    #expect(orders.repetitionsEnd(within: .zero) == .milliseconds(2500))
    var insisting = EndOrders(insisting: ["SIGTERM"])
    _ = insisting.take(order(arrived: .seconds(1), taken: .seconds(2)))
    #expect(insisting.repetitionsEnd(within: .seconds(5)) == .milliseconds(2500))
  }
}
