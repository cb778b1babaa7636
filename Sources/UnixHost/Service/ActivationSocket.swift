import CUnixHost
import LibC
import Scheduling

/// A socket that the service manager has opened, and passed to this process when it started it: socket activation.
///
/// The manager keeps the socket open while the service restarts, so a connection that arrives meanwhile waits in the
/// socket's queue instead of being refused. Use a duplicate as the handle of a managed resource, and close it in the
/// release:
///
///     try application.manage("listener", while: .running) {
///       if let socket = ActivationSocket.all.first {
///         try Listener(descriptor: socket.duplicate())
///       } else {
///         try Listener(port: 7000)
///       }
///     } release: {
///       $0.close()
///     }
///
/// Close a listening socket, and do not shut it down: `shutdown(2)` would also end it for the manager and for the next
/// process. The original descriptor stays open for the rest of the process, so that a resource that breaks can be
/// acquired again. If the manager passes a connection (`Accept=yes`), shut that down when it has been served: closing
/// the duplicate alone does not end it.
///
/// Whether a socket blocks is a property of the socket, not of the descriptor, and the last process may have changed it.
///
/// A program with privileges of its own (set-user-ID, file capabilities) receives no sockets.
public struct ActivationSocket: Sendable, Hashable {
  /// The name of the socket: `FileDescriptorName=` of its unit, or else the name of the unit, such as `words.socket`.
  ///
  /// It is `unknown` if the manager passes no names, or not one for each socket.
  public let name: String
  /// The descriptor that the manager has passed, which stays open.
  private let original: Int32

  /// The sockets that the service manager has passed to this process, in the order of its units; empty without any.
  ///
  /// The first use, by the program or by ``ServiceHost/run()``, marks the descriptors as close-on-exec, and removes
  /// `LISTEN_FDS` and the variables that belong to it from the environment, so that child processes inherit neither. It
  /// reports variables that are damaged or belong to another process. Any thread may use it, but none may change the
  /// environment during the first use.
  public static let all: [ActivationSocket] = take()

  /// Returns a new descriptor of the socket, which the caller closes; it is close-on-exec.
  ///
  /// Any thread may call it.
  ///
  /// - Throws: an error that names the reason, as a rule that the process has too many descriptors.
  public func duplicate() throws -> Int32 {
    let descriptor = fcntl(original, F_DUPFD_CLOEXEC, 3)
    guard descriptor >= 0 else { throw DuplicationError(errorNumber: errno) }
    return descriptor
  }

  /// The number of this process's pidfd in the kernel, which no other process ever has; nil without one.
  private static var pidfdIdentifier: UInt64? {
    var identifier: UInt64 = 0
    return unixhost_pidfd_identifier(&identifier) ? identifier : nil
  }

  /// Whether a descriptor may have come through exec: it is not close-on-exec, or a socket that other code has made so since.
  static func mayBePassed(_ descriptor: Int32) -> Bool {
    var (kind, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    return fcntl(descriptor, F_GETFD) & FD_CLOEXEC == 0
      || getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &size) == 0
  }

  private static func take() -> [ActivationSocket] {
    defer { for name in ActivationEnvironment.names { unsetenv(name) } }
    let isWithheld = Environment.isWithheld("LISTEN_FDS")
    let environment = ActivationEnvironment(
      process: getpid(), identifier: { pidfdIdentifier }, isWithheld: isWithheld, Environment.variable)
    let first = ActivationEnvironment.firstDescriptor
    // The number may be damaged.
    let open = (first..<first + environment.count).prefix(while: mayBePassed)
    let obstacle =
      open.count < Int(environment.count) ? .notOpen(environment.count, open: open.count) : environment.obstacle
    if let obstacle {
      HostMessage(.warning, "the sockets of the service manager are not used: \(obstacle)").send(waits: false)
      return []
    }
    return zip(open, environment.descriptorNames).map { descriptor, name in
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      return ActivationSocket(name: name, original: descriptor)
    }
  }
}

/// The variables of socket activation, as `sd_listen_fds(3)` describes them.
///
/// The type is pure.
struct ActivationEnvironment: Sendable, Hashable {
  /// A reason why the host uses none of the sockets.
  enum Obstacle: Sendable, Hashable, CustomStringConvertible {
    /// The variables are for another process.
    case isForAnotherProcess
    /// The program has privileges of its own.
    case isWithheld
    /// The number of sockets is none.
    case damaged(String)
    /// Not all of the descriptors are open.
    case notOpen(Int32, open: Int)

    var description: String {
      switch self {
      case .isForAnotherProcess: "$LISTEN_PID or $LISTEN_PIDFDID does not name this process"
      case .isWithheld: "a program with set-user-ID or file capabilities ignores $LISTEN_FDS"
      case .damaged(let text): "$LISTEN_FDS is “\(text.bounded)”"
      case .notOpen(let count, let open): "$LISTEN_FDS is \(count), and \(open) descriptors were passed from 3 on"
      }
    }
  }

  /// The number of the first descriptor that a manager passes.
  static let firstDescriptor: Int32 = 3
  /// The variables that belong to this process alone.
  static let names = ["LISTEN_PID", "LISTEN_PIDFDID", "LISTEN_FDS", "LISTEN_FDNAMES"]

  /// The number of descriptors, whose last number is an `Int32`; 0 if there are none to use.
  private(set) var count: Int32 = 0
  /// The reason why none is used; nil if they are, or there are none.
  private(set) var obstacle: Obstacle?
  private let passedNames: [String]

  /// Reads the variables that ``names`` lists.
  ///
  /// - Parameters:
  ///   - process: the number of this process.
  ///   - identifier: returns the number of this process that is never used again; nil if the system has none.
  ///   - isWithheld: whether the program ignores the variables because it has privileges of its own.
  ///   - variable: a closure that looks a variable up.
  init(
    process: Int32, identifier: () -> UInt64?, isWithheld: Bool, _ variable: (String) -> String?
  ) {
    passedNames =
      variable("LISTEN_FDNAMES")?.split(separator: ":", omittingEmptySubsequences: false).map(String.init) ?? []
    if isWithheld { obstacle = .isWithheld }
    guard let text = variable("LISTEN_FDS"), !text.isEmpty else { return }
    let isOurs = Self.number(variable("LISTEN_PID")) == UInt64(process)
    let identifierIsOurs = variable("LISTEN_PIDFDID").map { text in
      // Without the system's own number there is nothing to compare.
      identifier().map { Self.number(text) == $0 } ?? true
    }
    guard isOurs, identifierIsOurs ?? true else {
      obstacle = .isForAnotherProcess
      return
    }
    guard let number = Self.number(text), number > 0, number <= Int32.max - Self.firstDescriptor else {
      obstacle = .damaged(text)
      return
    }
    count = Int32(number)
  }

  /// A name for each descriptor, `unknown` if there is not one for each.
  ///
  /// - Complexity: linear in ``count``, which may be damaged, so look first which descriptors are open.
  var descriptorNames: [String] {
    passedNames.count == Int(count) ? passedNames : Array(repeating: "unknown", count: Int(count))
  }

  /// The number of a text that has digits only; nil for another text and for a number that is too large.
  private static func number(_ text: String?) -> UInt64? {
    guard let text, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    return UInt64(text)
  }
}

/// The error of a socket whose descriptor cannot be duplicated.
private struct DuplicationError: Error, CustomStringConvertible {
  let errorNumber: Int32

  var description: String { "cannot duplicate the socket: \(String(cString: strerror(errorNumber)))" }
}
