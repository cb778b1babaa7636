import CUnixHost
import LibC

/// A pipe that wakes a thread that waits in `poll`.
///
/// Any thread may call ``wake()``.
final class WakePipe: Sendable {
  /// The descriptor to poll, which is readable after a ``wake()``; -1 if the system had no descriptor for it.
  let descriptor: Int32
  private let writer: Int32

  init() {
    // This is the first descriptor that a host opens.
    unixhost_streams_hold()
    var ends: [Int32] = [-1, -1]
    (descriptor, writer) = unixhost_pipe(&ends) == 0 ? (ends[0], ends[1]) : (-1, -1)
  }

  deinit {
    guard descriptor >= 0 else { return }
    close(descriptor)
    close(writer)
  }

  func wake() {
    var byte: UInt8 = 0
    // A full pipe wakes the thread, too.
    _ = write(writer, &byte, 1)
  }

  func clear() {
    var buffer: (UInt64, UInt64) = (0, 0)
    while read(descriptor, &buffer, MemoryLayout.size(ofValue: buffer)) > 0 {}
  }
}
