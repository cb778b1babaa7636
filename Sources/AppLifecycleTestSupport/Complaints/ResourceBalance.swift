import Synchronization

/// Counts what doubles open and close, so that a leak is found which the application cannot see.
///
///     final class SocketDouble: Socket {
///       private let balance: ResourceBalance
///
///       init(_ balance: ResourceBalance) {
///         self.balance = balance
///         balance.opened("socket")
///       }
///
///       func close() { balance.closed("socket") }
///     }
///
/// The application knows which managed resources it acquired and released. It does not know what an acquire opened on the side,
/// or what a release forgot to close. A double of the file, the socket or the subscription knows, and says so here.
///
/// ``SimulatedSystemTrait`` and the script checks read the balance. When the application has ended in order, all must be closed.
/// When the process was lost (a crash, a suspended application that was killed) the system closes all, and the count begins
/// anew. Safe to use from any thread.
public final class ResourceBalance: Sendable {
  private struct State {
    /// How many of each name are open; a name with none is absent.
    var open: [String: Int] = [:]
    /// How many of each name went with a lost process, and may still be closed by what remains of it.
    var lost: [String: Int] = [:]
    var complaints: [RunComplaint] = []
  }

  private let state = Mutex(State())

  /// A balance in which nothing is open.
  public init() {}

  /// How many of each name are open; a name of which none is open is absent.
  public var open: [String: Int] { state.withLock { $0.open } }

  /// Notes that one was opened.
  ///
  /// - Parameters:
  ///   - name: what was opened, as complaints call it.
  ///   - limit: how many of this name may be open at a time; one more is a complaint.
  public func opened(_ name: String, atMost limit: Int = 1) {
    state.withLock { state in
      let count = state.open[name, default: 0] + 1
      state.open[name] = count
      guard count > limit else { return }
      let fault = limit == 1 ? "and is open already" : "and \(limit) are open already"
      state.complaints.append(RunComplaint(.resource, "“\(name)” was opened, \(fault)"))
    }
  }

  /// Notes that one was closed.
  ///
  /// - Parameter name: what was closed; one that is not open is a complaint.
  public func closed(_ name: String) {
    state.withLock { state in
      if let count = state.open[name] {
        state.open[name] = count == 1 ? nil : count - 1
      } else if let count = state.lost[name] {
        state.lost[name] = count == 1 ? nil : count - 1
      } else {
        state.complaints.append(RunComplaint(.resource, "“\(name)” was closed, and is not open"))
      }
    }
  }

  /// The process was lost: the system closes what it had open.
  func loseProcess() {
    state.withLock { state in
      state.lost.merge(state.open, uniquingKeysWith: +)
      state.open = [:]
    }
  }

  /// The complaints since this was last called, in order.
  func takeComplaints() -> [RunComplaint] {
    state.withLock { state in
      defer { state.complaints = [] }
      return state.complaints
    }
  }
}
