import Testing

@testable import PubSub

@Suite struct `Which places posts look at` {
  /// Handlers that come and go, as a buffer has them that is read all the time: no place is given away a second time.
  private struct Model {
    var isStanding: [Bool] = []
    var extent = HandlerExtent()

    mutating func append() {
      extent = extent.extended(to: isStanding.count)
      isStanding.append(true)
    }

    mutating func cancel(at place: Int) {
      isStanding[place] = false
      while extent.end > 0, !isStanding[extent.end - 1] { extent.removeLast() }
    }

    var looked: Set<Int> { Set(0..<extent.end).subtracting(extent.gap) }
    var standing: [Int] { isStanding.indices.filter { isStanding[$0] } }
  }

  @Test func `All that stand are looked at, the last one stands last, and in the gap stands nobody`() {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      var model = Model()
      // From mostly coming to mostly going, and from the last one to any one.
      let (coming, last) = (Int.random(in: 1..<10, using: &random), Int.random(in: 0...10, using: &random))
      for _ in 0..<300 {
        if let newest = model.standing.last, Int.random(in: 0..<10, using: &random) >= coming {
          let isNewest = Int.random(in: 0..<10, using: &random) < last
          model.cancel(at: isNewest ? newest : model.standing.randomElement(using: &random)!)
        } else {
          model.append()
        }
        #expect(model.looked.isSuperset(of: model.standing))
        #expect(model.extent.end == (model.standing.last ?? -1) + 1)
        #expect(model.extent.gap.isEmpty || model.extent.gap.upperBound < model.extent.end)
      }
    }
  }

  @Test func `Of two gaps the longer is left out`() {
    var model = Model()
    func come(_ count: Int) { for _ in 0..<count { model.append() } }
    func go(_ count: Int) { for _ in 0..<count { model.cancel(at: model.standing.last!) } }
    come(10)
    #expect(model.extent == HandlerExtent(end: 10))
    come(3)
    go(3)
    come(1)
    #expect(model.extent.gap == 10..<13)
    come(2)
    go(2)
    come(1)
    #expect(model.extent.gap == 10..<13 && model.extent.end == 17)
    come(4)
    go(4)
    come(1)
    #expect(model.extent.gap == 17..<21 && model.extent.end == 22)
    go(1)
    #expect(model.extent == HandlerExtent(end: 17))
  }

  @Test func `A gap that one word cannot tell is looked at`() {
    var extent = HandlerExtent(end: 10)
    #expect(extent.extended(to: 9 + HandlerExtent.longestGap).gap.count == HandlerExtent.longestGap - 1)
    #expect(extent.extended(to: 10 + HandlerExtent.longestGap).gap.count == HandlerExtent.longestGap)
    #expect(extent.extended(to: 11 + HandlerExtent.longestGap) == HandlerExtent(end: 12 + HandlerExtent.longestGap))

    extent = extent.extended(to: 15)
    for _ in 1..<HandlerExtent.mostAfter { extent = extent.extended(to: extent.end) }
    #expect(extent.gap == 10..<15)
    #expect(extent.end == 15 + HandlerExtent.mostAfter)
    #expect(extent.extended(to: extent.end) == HandlerExtent(end: 16 + HandlerExtent.mostAfter))
  }

  @Test func `A buffer may have as many places as there are numbers of 32 bits`() {
    var extent = HandlerExtent(end: Int(UInt32.max) - 3)
    extent = extent.extended(to: extent.end + 1)
    #expect(extent.end == Int(UInt32.max) - 1 && extent.gap.count == 1)
    extent.removeLast()
    #expect(extent == HandlerExtent(end: Int(UInt32.max) - 3))
  }
}
