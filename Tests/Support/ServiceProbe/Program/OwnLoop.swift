import Glibc
import ProbeSupport
import UnixHost

/// A program with a loop of its own: it waits for a named pipe of its own beside the main actor's work.
@MainActor enum OwnLoop {
  private static var status: Int32?

  static func run(_ path: String) -> Never {
    Task { status = await ServiceProbe.host() }
    let pipe = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    while true {
      if let status { exit(status) }
      var waiting = [
        pollfd(fd: pipe, events: Int16(POLLIN), revents: 0),
        pollfd(fd: MainLoop.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&waiting, 2, -1) > 0 else { continue }
      if waiting[0].revents != 0 { Log.shared.write("loop \(line(from: pipe))") }
      if waiting[1].revents != 0 { MainLoop.performWork() }
    }
  }
}
