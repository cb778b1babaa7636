import LifecycleJournal
import Scheduling

/// Whether something is so at the moment.
final class Switch: Sendable {
  private let guarded: Guarded<Bool>

  init(_ isOn: Bool) { guarded = Guarded(isOn) }

  var isOn: Bool {
    get { guarded.withLock { $0 } }
    set { guarded.withLock { $0 = newValue } }
  }
}

/// Files that take two bytes of each write.
struct ShortWrites: FileCalls {
  private let files: any FileCalls

  init(_ files: any FileCalls) { self.files = files }

  func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(FileError) -> Int {
    try files.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(2)), to: descriptor)
  }

  var isForked: Bool { files.isForked }
  func close(_ descriptor: Int32) { files.close(descriptor) }
  func openForAppending(_ path: String, exclusively: Bool) throws(FileError) -> Int32 {
    try files.openForAppending(path, exclusively: exclusively)
  }
  func makeFile(_ path: String, mode: UInt32) throws(FileError) -> Int32 { try files.makeFile(path, mode: mode) }
  func openStream(_ path: String) throws(FileError) -> Int32 { try files.openStream(path) }
  func openForReading(_ path: String) throws(FileError) -> Int32 { try files.openForReading(path) }
  func read(into bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32, at offset: Int64) throws(FileError)
    -> Int
  { try files.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(3)), from: descriptor, at: offset) }
  func flush(_ descriptor: Int32) throws(FileError) { try files.flush(descriptor) }
  func flushDirectory(_ path: String) throws(FileError) { try files.flushDirectory(path) }
  func reserve(_ count: Int64, from offset: Int64, in descriptor: Int32) throws(FileError) {
    try files.reserve(count, from: offset, in: descriptor)
  }
  func truncate(_ descriptor: Int32, to size: Int64) throws(FileError) { try files.truncate(descriptor, to: size) }
  func lock(_ descriptor: Int32) throws(FileError) -> Bool { try files.lock(descriptor) }
  func status(of descriptor: Int32) throws(FileError) -> FileStatus { try files.status(of: descriptor) }
  func status(at path: String) throws(FileError) -> FileStatus { try files.status(at: path) }
  func status(ofName path: String) throws(FileError) -> FileStatus { try files.status(ofName: path) }
  func readLink(_ path: String) throws(FileError) -> String? { try files.readLink(path) }
  func link(_ path: String, as name: String) throws(FileError) { try files.link(path, as: name) }
  func rename(_ path: String, to name: String) throws(FileError) { try files.rename(path, to: name) }
  func remove(_ path: String) throws(FileError) { try files.remove(path) }
  func makeDirectory(_ path: String) throws(FileError) { try files.makeDirectory(path) }
  func sizeLimit() -> Int64? { files.sizeLimit() }
  func armCrashLine(of descriptor: Int32, at instant: Duration, limit: Int64?) -> Int32? { nil }
  func disarmCrashLine(_ slot: Int32) {}
}
