import Testing

@testable import EventLink

@Suite struct `A filter of topics` {
  @Test(arguments: [
    ("a/b", "a/b", true), ("a/b", "a/b/c", false), ("a/+", "a/b", true), ("a/+", "a", false), ("a/#", "a", true),
    ("a/#", "a/b/c", true), ("#", "a/b", true), ("#", "$SYS/x", false), ("+/x", "$SYS/x", false), ("+", "", true),
    ("a//b", "a//b", true), ("a/+/b", "a//b", true), ("a/+", "a/\u{301}b", true), ("+", "$\u{301}x", false),
    ("caf\u{E9}", "cafe\u{301}", false),
  ])
  func `matches as at a broker`(filter: String, topic: String, expected: Bool) throws {
    #expect(try #require(TopicFilter(filter)).matches(topic) == expected)
  }

  @Test(arguments: [
    String(repeating: "/", count: 201), "", "a/#/b", "a#", "a+/b", "a\0b", String(repeating: "x", count: 513), "a\nb",
    "a/#\u{FE0F}\u{20E3}", "+\u{301}",
  ])
  func `is refused`(text: String) { #expect(TopicFilter(text) == nil) }

  /// Brokers and their library take no more.
  @Test func `has at most 200 slashes`() { #expect(TopicFilter(String(repeating: "/", count: 200)) != nil) }
}
