import Synchronization

/// Counts what doubles open and close, to find leaks that the application cannot see.
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
/// The application knows which managed resources it acquired and released. It does not know what an acquire opened on
/// the side, or what a release forgot to close. A double of the file, the socket or the subscription knows, and reports
/// it here.
///
/// ``SimulatedSystemTrait`` and the script checks read the balance. When the application has ended in order, everything
/// must be closed. When the process was lost (a crash, an exceeded budget, a suspended application that was killed), the
/// system closes everything, and the count begins again at zero. A double of the lost process that closes afterwards is
/// no complaint. Any thread may use a balance.
public final class ResourceBalance: Sendable {
  private struct State {
    /// The number of open ones for each name; a name with none is absent.
    var open: [String: Int] = [:]
    /// The number that a lost process had open, for each name; doubles that still exist may close them.
    var lost: [String: Int] = [:]
    var complaints: [RunComplaint] = []
  }

  private let state = Mutex(State())

  /// Makes a balance in which nothing is open.
  public init() {}

  /// The number of open ones for each name; a name of which none is open is absent.
  public var open: [String: Int] { state.withLock { $0.open } }

  /// Notes that a double was opened.
  ///
  /// - Parameters:
  ///   - name: the name of the double in complaints.
  ///   - limit: the number of doubles of this name that may be open at a time; one more is a complaint.
  public func opened(_ name: String, atMost limit: Int = 1) {
    state.withLock { state in
      let count = state.open[name, default: 0] + 1
      state.open[name] = count
      guard count > limit else { return }
      let fault = limit == 1 ? "it was already open" : "\(limit) were already open"
      state.complaints.append(RunComplaint(.resource, "“\(name)” was opened while \(fault)"))
    }
  }

  /// Notes that a double was closed.
  ///
  /// - Parameter name: the name of the double; if none of this name is open, that is a complaint.
  public func closed(_ name: String) {
    state.withLock { state in
      if let count = state.open[name] {
        state.open[name] = count == 1 ? nil : count - 1
      } else if let count = state.lost[name] {
        state.lost[name] = count == 1 ? nil : count - 1
      } else {
        state.complaints.append(RunComplaint(.resource, "“\(name)” was closed while it was not open"))
      }
    }
  }

  /// Notes that the process was lost: the system closes what it had open.
  func loseProcess() {
    state.withLock { state in
      state.lost.merge(state.open, uniquingKeysWith: +)
      state.open = [:]
    }
  }

  /// Returns the complaints since the last call, in order.
  func takeComplaints() -> [RunComplaint] {
    state.withLock { state in
      defer { state.complaints = [] }
      return state.complaints
    }
  }
}
