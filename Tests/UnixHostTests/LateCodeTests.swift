import AppLifecycle
import Testing

@testable import UnixHost

/// What a host says of code that is late, and that no report of a transition names.
@Suite @MainActor struct `Late code outside a tear-down` {
  private let release = BudgetOverrun(
    callback: .didEnterBackground, budget: .seconds(5), culprits: ["feed"], operation: "release")
  private let handler = BudgetOverrun(callback: .willResignActive, budget: .seconds(5), culprits: ["saver"])
  private let answer = BudgetOverrun(callback: .shouldTerminate, budget: .seconds(30), culprits: ["delegate"])

  @Test func `is reported at once`() {
    #expect(
      HostSession.message(about: release, whileBudgetRuns: false)?.text
        == "the release of feed overran its budget of 5.0 seconds")
    #expect(
      HostSession.message(about: handler, whileBudgetRuns: false)?.text
        == "the tear-down of applicationWillResignActive overran its budget of 5.0 seconds: saver")
  }

  @Test func `is left to the report of the transition where one follows`() {
    #expect(HostSession.message(about: release, whileBudgetRuns: true) == nil)
    #expect(HostSession.message(about: answer, whileBudgetRuns: false) == nil)
  }
}
