package import LifecycleJournal
import Scheduling

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The operating system's files, where the test says which calls fail.
///
/// Each call has a number from 0. What becomes of it is the test's decision; descriptors are real ones, and those that were
/// opened can be closed as the kernel does it when a process dies.
package final class FaultyFiles: FileCalls {
  package enum Fate: Sendable {
    case works
    case fails(Int32)
    /// A write that does a part of its work and fails when it is asked for the rest.
    case stopsAfter(bytes: Int, Int32)
    /// The process dies before the call, or after a part of a write: no later call does anything.
    case dies(afterBytes: Int)
  }

  package struct Call: Sendable, Hashable {
    package var number: Int
    package var name: String
    package var path: String?
  }

  private struct State {
    var calls: [Call] = []
    var open: [Int32: String] = [:]
    var isDead = false
    var disarmed: [Int32] = []
    /// What the next write fails with, after one that did a part of its work.
    var pending: Int32?
  }

  private let system = SystemFiles()
  private let state = Guarded(State())
  private let fate: @Sendable (Call) -> Fate

  /// The limit on the size of files.
  private let limit: Int64?

  package init(limit: Int64? = nil, _ fate: @escaping @Sendable (Call) -> Fate) {
    (self.limit, self.fate) = (limit, fate)
  }

  package var isForked: Bool { system.isForked }

  package var calls: [Call] { state.withLock { $0.calls } }

  /// The slots whose watch for a crash has ended.
  package var disarmed: [Int32] { state.withLock { $0.disarmed } }

  /// Closes what is open: the process has died.
  package func die() {
    let open = state.withLock { state in
      defer { state.open = [:] }
      state.isDead = true
      return Array(state.open.keys)
    }
    for descriptor in open { system.close(descriptor) }
  }

  /// Notes a call; throws what it fails with; otherwise says how many bytes may be written.
  @discardableResult
  private func begin(_ name: String, _ path: String? = nil) throws(FileError) -> Int? {
    let call: Call? = state.withLock { state in
      guard !state.isDead else { return nil }
      let call = Call(number: state.calls.count, name: name, path: path)
      state.calls.append(call)
      return call
    }
    guard let call else { throw FileError(number: EBADF) }
    if name == "write",
      let pending = state.withLock({ state in
        defer { state.pending = nil }
        return state.pending
      })
    {
      throw FileError(number: pending)
    }
    switch fate(call) {
    case .works: return nil
    case .fails(let number): throw FileError(number: number)
    case .stopsAfter(let bytes, let number):
      guard name == "write" else { throw FileError(number: number) }
      state.withLock { $0.pending = number }
      return bytes
    case .dies(let bytes):
      guard name == "write", bytes > 0 else {
        die()
        throw FileError(number: EBADF)
      }
      return -bytes
    }
  }

  private func opened(_ descriptor: Int32, _ path: String) -> Int32 {
    state.withLock { $0.open[descriptor] = path }
    return descriptor
  }

  package func openForAppending(_ path: String, exclusively: Bool) throws(FileError) -> Int32 {
    try begin("open", path)
    return opened(try system.openForAppending(path, exclusively: exclusively), path)
  }
  package func makeFile(_ path: String, mode: UInt32) throws(FileError) -> Int32 {
    try begin("makeFile", path)
    return opened(try system.makeFile(path, mode: mode), path)
  }
  package func openStream(_ path: String) throws(FileError) -> Int32 {
    try begin("openStream", path)
    return opened(try system.openStream(path), path)
  }
  package func openForReading(_ path: String) throws(FileError) -> Int32 {
    try begin("openForReading", path)
    return opened(try system.openForReading(path), path)
  }
  package func close(_ descriptor: Int32) {
    guard state.withLock({ $0.open.removeValue(forKey: descriptor) != nil }) else { return }
    system.close(descriptor)
  }
  package func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(FileError) -> Int {
    guard let part = try begin("write", state.withLock { $0.open[descriptor] }) else {
      return try system.write(bytes, to: descriptor)
    }
    let first = UnsafeRawBufferPointer(
      rebasing: bytes.prefix(part.magnitude < bytes.count ? Int(part.magnitude) : bytes.count))
    let count = try system.write(first, to: descriptor)
    if part < 0 {
      die()
      throw FileError(number: EBADF)
    }
    return count
  }
  package func read(into bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int64)
    throws(FileError)
    -> Int
  {
    try begin("read")
    return try system.read(into: bytes, from: descriptor, at: offset)
  }
  package func flush(_ descriptor: Int32) throws(FileError) {
    try begin("flush")
    try system.flush(descriptor)
  }
  package func flushDirectory(_ path: String) throws(FileError) {
    try begin("flushDirectory", path)
    try system.flushDirectory(path)
  }
  package func reserve(_ count: Int64, from offset: Int64, in descriptor: Int32) throws(FileError) {
    try begin("reserve")
    try system.reserve(count, from: offset, in: descriptor)
  }
  package func truncate(_ descriptor: Int32, to size: Int64) throws(FileError) {
    try begin("truncate")
    try system.truncate(descriptor, to: size)
  }
  package func lock(_ descriptor: Int32) throws(FileError) -> Bool {
    try begin("lock")
    return try system.lock(descriptor)
  }
  package func status(of descriptor: Int32) throws(FileError) -> FileStatus {
    try begin("statusOf")
    return try system.status(of: descriptor)
  }
  package func status(at path: String) throws(FileError) -> FileStatus {
    try begin("statusAt", path)
    return try system.status(at: path)
  }
  package func status(ofName path: String) throws(FileError) -> FileStatus {
    try begin("statusOfName", path)
    return try system.status(ofName: path)
  }
  package func readLink(_ path: String) throws(FileError) -> String? {
    try begin("readLink", path)
    return try system.readLink(path)
  }
  package func link(_ path: String, as name: String) throws(FileError) {
    try begin("link", path)
    try system.link(path, as: name)
  }
  package func rename(_ path: String, to name: String) throws(FileError) {
    try begin("rename", path)
    try system.rename(path, to: name)
  }
  package func remove(_ path: String) throws(FileError) {
    try begin("remove", path)
    try system.remove(path)
  }
  package func makeDirectory(_ path: String) throws(FileError) {
    try begin("makeDirectory", path)
    try system.makeDirectory(path)
  }
  package func sizeLimit() -> Int64? { limit ?? system.sizeLimit() }
  // The files of a test are not those of its process.
  package func armCrashLine(of descriptor: Int32, at instant: Duration, limit: Int64?) -> Int32? { nil }
  package func disarmCrashLine(_ slot: Int32) { state.withLock { $0.disarmed.append(slot) } }
}
