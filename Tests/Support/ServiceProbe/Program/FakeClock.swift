import Glibc
import ProbeSupport
import Synchronization
import UnixHost

/// A wall clock that begins at 0, in Greenwich, and that a test sets by lines in a named pipe.
///
/// `set SECONDS`: the test sets it. `reached SECONDS`: it has reached that time.
func fakeClock(_ path: String) -> WallClock {
  let now = FakeTime()
  let pipe = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
  return WallClock(
    descriptor: pipe, availability: .available("the test's"),
    read: { (.seconds(now.seconds), now.seconds / 86_400, 0) }, local: { ($0 / 86_400, 0) },
    arm: {
      Log.shared.write("armed \($0)")
      return true
    },
    next: {
      let words = line(from: pipe).split(separator: " ")
      guard words.count == 2, let seconds = Int(words[1]) else { return nil }
      now.seconds = seconds
      return words[0] == "set" ? .set : .reached
    })
}

private final class FakeTime: Sendable {
  private let storage = Mutex(0)

  var seconds: Int {
    get { storage.withLock { $0 } }
    set { storage.withLock { $0 = newValue } }
  }
}

/// A line without its end; empty if there is none.
func line(from pipe: Int32) -> String {
  var bytes: [UInt8] = []
  var byte: UInt8 = 0
  while read(pipe, &byte, 1) == 1, byte != UInt8(ascii: "\n") { bytes.append(byte) }
  return String(decoding: bytes, as: UTF8.self)
}
