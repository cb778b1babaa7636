import Testing

@testable import UnixHost

/// One order to end, its copies, and the next one.
@Suite struct EndOrdersTests {
  private func order(_ signal: CaughtSignal = .terminate, arrived: Duration, taken: Duration) -> SignalRecord {
    SignalRecord(signal: signal, arrived: arrived, taken: taken)
  }

  @Test func theWindowBeginsWhenTheFirstOrderIsTakenUp() {
    var orders = EndOrders()
    #expect(orders.began == nil)
    #expect(orders.take(order(arrived: .seconds(10), taken: .seconds(12))) == .end)
    #expect(orders.began == .seconds(12))
    // It arrived before the first one was taken up: the host's thread had no processor.
    #expect(orders.take(order(arrived: .seconds(11), taken: .seconds(20))) == .copy)
    #expect(orders.take(order(.interrupt, arrived: .milliseconds(12_499), taken: .seconds(20))) == .copy)
    #expect(orders.take(order(.interrupt, arrived: .milliseconds(12_500), taken: .seconds(20))) == .endAtOnce)
  }

  @Test func copiesDoNotExtendTheWindow() {
    var orders = EndOrders()
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
    var orders = EndOrders()
    #expect(orders.take(interrupt(at: .zero), asks: true) == .ask)
    #expect(orders.take(interrupt(at: .milliseconds(499)), asks: true) == .copy)
    #expect(orders.take(interrupt(at: .milliseconds(500)), asks: true) == .end)
    #expect(orders.began == .milliseconds(500))
    #expect(orders.take(interrupt(at: .milliseconds(999)), asks: true) == .copy)
    #expect(orders.take(interrupt(at: .seconds(1)), asks: true) == .endAtOnce)
  }

  @Test func anOrderOfAnotherSignalIsNoCopyOfOneThatOnlyAsks() {
    var orders = EndOrders()
    #expect(orders.take(interrupt(at: .zero), asks: true) == .ask)
    #expect(orders.take(order(arrived: .milliseconds(1), taken: .milliseconds(1)), asks: false) == .end)
    #expect(orders.take(interrupt(at: .milliseconds(2)), asks: true) == .copy)
  }

  @Test func onceTheEndHasBegunTheNextOrderEndsItAtOnce() {
    var orders = EndOrders()
    #expect(orders.take(interrupt(at: .zero), asks: true) == .ask)
    orders.beginEnd()
    #expect(orders.take(interrupt(at: .milliseconds(499)), asks: true) == .copy)
    #expect(orders.take(interrupt(at: .milliseconds(500)), asks: true) == .endAtOnce)
  }

  @Test func aForgottenQuestionMakesTheNextOrderAFirstOne() {
    var orders = EndOrders()
    #expect(orders.take(interrupt(at: .zero), asks: true) == .ask)
    orders.forgetQuestion()
    #expect(orders.take(interrupt(at: .seconds(1)), asks: true) == .ask)
    #expect(orders.take(interrupt(at: .seconds(2)), asks: true) == .end)
    orders.forgetQuestion()
    #expect(orders.take(interrupt(at: .seconds(3)), asks: true) == .endAtOnce)
  }
}
