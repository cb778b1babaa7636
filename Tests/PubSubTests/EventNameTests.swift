import Testing

@testable import PubSub

@Suite struct `Names of events` {
  struct Nested: BusEvent {}
  private struct Hidden: BusEvent {}

  @Test func `The default name is the type's without its module`() {
    struct Local: BusEvent {}
    #expect(Tick.name == "Tick")
    #expect(Nested.name.rawValue.hasSuffix(".Nested"))
    #expect(!Nested.name.rawValue.contains("PubSubTests"))
    #expect(Hidden.name.rawValue.hasSuffix(".Hidden"))
    #expect(Local.name.rawValue.hasSuffix("Local"))
    for name in [Nested.name, Hidden.name, Local.name] { #expect(!name.rawValue.contains("$")) }
  }
}
