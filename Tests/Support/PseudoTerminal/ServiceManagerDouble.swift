import CPseudoTerminal
import Glibc

/// Stands in for a service manager: listens where `$NOTIFY_SOCKET` says and keeps what it is told, in order.
package final class ServiceManagerDouble: Sendable {
  /// One datagram.
  package struct Notice: Sendable {
    /// The process that sent it, by the kernel's word.
    package let sender: Int32
    /// Its lines.
    package let lines: [String]

    /// The value of a field; nil where the datagram has no such field.
    package func value(_ name: String) -> String? {
      lines.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }
  }

  private struct Inbox: Sendable {
    var notices: [Notice] = []
    var taken = 0
  }

  /// Where it listens.
  package enum Place: String, Sendable, CaseIterable {
    /// A socket in the file system.
    case path
    /// A name that has no file.
    case abstract
  }

  /// What `$NOTIFY_SOCKET` has to be.
  package let address: String
  private let inbox: Monitor<Inbox>
  private let waker: Waker

  /// Listens at a place of its own, with a file in `directory` if it has one.
  package init(_ place: Place, in directory: TemporaryDirectory) throws {
    let path = directory.file("notify")
    let name: [CChar]
    switch place {
    case .path:
      address = path
      name = Array(path.utf8CString)
    case .abstract:
      // The directory's name is this test's alone.
      address = "@" + path
      name = [0] + path.utf8.map { CChar(bitPattern: $0) }
    }
    let socket = cpt_notify_open(name, name.count)
    guard socket >= 0 else { throw SystemError("bind \(address)") }
    let inbox = Monitor(Inbox()) { inbox in
      inbox.notices.map { $0.lines.joined(separator: " ") }.joined(separator: "\n")
    }
    self.inbox = inbox
    let waker = try Waker()
    self.waker = waker
    startThread {
      while waker.waitForInput(on: socket) { Self.receive(socket, inbox) }
      close(socket)
      close(waker.descriptor)
    }
  }

  deinit { waker.wake() }

  private static func receive(_ socket: Int32, _ inbox: Monitor<Inbox>) {
    var buffer = [CChar](repeating: 0, count: 4096)
    var sender: Int32 = 0
    var passed: Int32 = -1
    let count = cpt_notify_receive(socket, &buffer, buffer.count, &sender, &passed)
    guard count > 0 else { return }
    let text = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let notice = Notice(sender: sender, lines: text.split(separator: "\n").map(String.init))
    inbox.update { $0.notices.append(notice) }
    // Closed only once the datagram is kept: that is what the sender of a barrier waits for.
    if passed >= 0 { close(passed) }
  }

  /// Everything so far.
  package var notices: [Notice] { inbox.state.notices }

  /// All lines so far, in order.
  package var lines: [String] { notices.flatMap(\.lines) }

  /// Waits for the next datagram with this field that no one has taken yet; the ones before it count as taken.
  @discardableResult package func notice(
    with field: String, within limit: Duration = .seconds(240)
  ) async throws -> Notice {
    try await inbox.wait(for: field, within: limit) { inbox in
      guard let index = inbox.notices[inbox.taken...].firstIndex(where: { $0.value(field) != nil }) else { return nil }
      inbox.taken = index + 1
      return inbox.notices[index]
    }
  }
}
