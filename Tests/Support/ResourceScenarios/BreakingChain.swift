public import AppLifecycle

/// A chain of four resources whose second one has a run loop that ends, or does not, when the whole chain is held.
///
/// For the simulator and for programs on a real host, which are to write the same lines.
@MainActor public final class BreakingChain {
  /// What the first loop does once the chain is held.
  public enum Ending: String, Sendable, CaseIterable {
    case fails
    case returns
    /// Its resource is invalidated, and the loop ignores that it is cancelled.
    case ignoresCancellation

    /// What is written, in this order, until the chain is held again.
    public var lines: [String] {
      let beginning = ["+a", "+b", "run b", "+c", "+d"]
      let again = ["-d", "-c", "-b", "+b", "run b", "+c", "+d"]
      return beginning + (self == .ignoresCancellation ? again : ["end b"] + again)
    }
  }

  private struct Failure: Error, CustomStringConvertible {
    var description: String { "it fails" }
  }

  private let ending: Ending
  private let write: @MainActor (String) -> Void
  private var chainIsHeld = false
  /// Opened when the chain is held for the first time.
  private let (gate, opener) = AsyncStream.makeStream(of: Void.self)
  /// Never opened.
  private let (never, neverOpener) = AsyncStream.makeStream(of: Void.self)
  private var second: ManagedResource<Int>?

  /// - Parameters:
  ///   - ending: what the first loop does.
  ///   - write: receives the lines.
  public init(_ ending: Ending, write: @escaping @MainActor (String) -> Void) {
    (self.ending, self.write) = (ending, write)
  }

  /// Manages the four resources while the application runs.
  public func manage(in application: Application) throws {
    let first = try application.manage("a", while: .running) {
      self.write("+a")
    } release: {
      self.write("-a")
    }
    var leases = 0
    let second = try application.manage("b", while: .running, after: first) { _ in
      leases += 1
      self.write("+b")
      return leases
    } run: { lease in
      try await self.run(lease)
    } release: { _ in
      self.write("-b")
    }
    let third = try application.manage("c", while: .running, after: second) { _ in
      self.write("+c")
    } release: {
      self.write("-c")
    }
    try application.manage("d", while: .running, after: third) { _ in
      self.write("+d")
      self.becomeHeld()
    } release: {
      self.write("-d")
    }
    self.second = second
  }

  private func becomeHeld() {
    guard !chainIsHeld else { return }
    chainIsHeld = true
    if ending == .ignoresCancellation {
      second?.invalidate(because: Failure())
    } else {
      opener.finish()
    }
  }

  private func run(_ lease: Int) async throws {
    write("run b")
    guard lease == 1, ending != .ignoresCancellation else {
      // In a task of its own, which nothing cancels.
      let never = never
      if lease == 1 { await Task { for await _ in never {} }.value }
      for await _ in never {}
      return
    }
    for await _ in gate {}
    write("end b")
    if ending == .fails { throw Failure() }
  }
}
