import BenchmarkHarness
import Testing

@Suite("Statistics of samples") struct SamplesTests {
  @Test("The median is the middle figure, or the mean of the two middle ones") func median() {
    #expect(Samples([3, 1, 2]).median == 2)
    #expect(Samples([4, 1, 3, 2]).median == 2.5)
    #expect(Samples([7]).median == 7)
    #expect(Samples().median == nil)
  }

  @Test("One disturbed round moves the mean, not the median") func robustness() {
    #expect(Samples([1, 1, 1, 1, 1_000]).median == 1)
  }

  @Test("Minimum and maximum, whatever the order") func extremes() {
    var samples = Samples([2, 3])
    samples.append(1)
    #expect(samples.minimum == 1)
    #expect(samples.maximum == 3)
    #expect(samples.values == [2, 3, 1])
    #expect(Samples().minimum == nil)
  }

  @Test("The mean of the calm figures leaves out a tenth of them") func calmMean() {
    #expect(Samples([1, 1, 1, 1, 1_000, 1, 1, 1, 3, 3]).calmMean == 13.0 / 9)
    #expect(Samples([1, 3]).calmMean == 2)
    #expect(Samples().calmMean == nil)
  }

  @Test("Ratios are those of the same rounds") func ratios() {
    #expect(Samples([4, 9]).ratios(to: Samples([2, 3, 5])) == Samples([2, 3]))
  }
}
