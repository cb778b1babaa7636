import Dispatch
import LibC

/// The source that reports that memory is low.
///
/// On Linux it is the source that `$MEMORY_PRESSURE_WATCH` names: a pressure file, a named pipe or a socket, as in
/// systemd's protocol. It is armed with the Base64 contents of `$MEMORY_PRESSURE_WRITE`. Without that variable it is
/// the kernel's own pressure file. On Darwin it is the memory pressure source of Dispatch.
struct MemoryPressureSource: Sendable {
  /// The reason why there is no source.
  struct Unavailable: Error, Hashable {
    var reason: String
  }

  /// The descriptor to poll; -1 after the source has ended.
  private(set) var descriptor: Int32
  /// The events to poll for.
  let events: Int32
  /// The name of the source.
  let name: String

  #if canImport(Darwin)
    private let waker: WakePipe
    private let source: any DispatchSourceProtocol

    /// Opens the source; only Linux reads the variables.
    init(_ variable: (String) -> String?) throws(Unavailable) {
      let waker = WakePipe()
      guard waker.descriptor >= 0 else { throw Unavailable(reason: "no file descriptor is left") }
      self.waker = waker
      descriptor = waker.descriptor
      events = Int32(POLLIN)
      name = "Dispatch"
      source = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical], queue: .global())
      source.setEventHandler { waker.wake() }
      source.activate()
    }
  #else
    /// The trigger for the kernel's file: a report for each two seconds in which some task waited for memory for 0.2 s.
    ///
    /// It ends with a zero byte. A window that is not a multiple of two seconds requires a privilege.
    private static let trigger = Array("some 200000 2000000".utf8) + [0]

    /// Opens the source that the environment names.
    init(_ variable: (String) -> String?) throws(Unavailable) {
      guard let path = variable("MEMORY_PRESSURE_WATCH") else {
        try self.init(path: "/proc/pressure/memory", arming: Self.trigger)
        return
      }
      guard path != "/dev/null" else {
        throw Unavailable(reason: "$MEMORY_PRESSURE_WATCH is /dev/null, which turns the watch off")
      }
      let text = variable("MEMORY_PRESSURE_WRITE") ?? ""
      guard let bytes = Base64.decode(text) else { throw Unavailable(reason: "$MEMORY_PRESSURE_WRITE is not Base64") }
      try self.init(path: path, arming: bytes)
    }

    private init(path: String, arming bytes: [UInt8]) throws(Unavailable) {
      func failed(_ error: Int32) -> Unavailable { Unavailable(reason: "\(path): \(String(cString: strerror(error)))") }
      var status = stat()
      guard path.hasPrefix("/") else { throw Unavailable(reason: "\(path): not an absolute path") }
      guard stat(path, &status) == 0 else { throw failed(errno) }
      let descriptor: Int32
      switch status.st_mode & S_IFMT {
      case S_IFREG:
        descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        (events, name) = (Int32(POLLPRI), path)
      case S_IFIFO:
        // Open it for both directions, so that it does not end when its writers close it.
        descriptor = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        (events, name) = (Int32(POLLIN), "\(path) (pipe)")
      case S_IFSOCK:
        descriptor = Self.connect(path)
        (events, name) = (Int32(POLLIN), "\(path) (socket)")
      default: throw Unavailable(reason: "\(path): neither a file nor a pipe nor a socket")
      }
      guard descriptor >= 0 else { throw failed(errno) }
      if !bytes.isEmpty, write(descriptor, bytes, bytes.count) != bytes.count {
        let error = errno
        LibC.close(descriptor)
        throw failed(error)
      }
      self.descriptor = descriptor
    }

    private static func connect(_ path: String) -> Int32 {
      var address = sockaddr_un()
      let bytes = Array(path.utf8)
      guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
        errno = ENAMETOOLONG
        return -1
      }
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
      let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
      let descriptor = socket(AF_UNIX, type, 0)
      guard descriptor >= 0 else { return -1 }
      let isConnected = withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          LibC.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
        }
      }
      if isConnected { return descriptor }
      let error = errno
      LibC.close(descriptor)
      errno = error
      return -1
    }
  #endif

  /// Handles a ready descriptor; returns true if memory is low.
  mutating func take(_ ready: Int32) -> Bool {
    guard ready != 0 else { return false }
    // The control group whose memory is watched is gone.
    if ready & Int32(POLLERR | POLLNVAL) != 0 {
      close()
      return false
    }
    guard events == Int32(POLLIN) else { return ready & events != 0 }
    var buffer = [UInt8](repeating: 0, count: 4096)
    var isShort = false
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count > 0 {
        isShort = true
      } else {
        // The other end has closed it, or it is broken, so it would be ready for ever.
        if count == 0 || (errno != EAGAIN && errno != EINTR) { close() }
        return isShort
      }
    }
  }

  mutating func close() {
    #if canImport(Darwin)
      source.cancel()
    #else
      if descriptor >= 0 { LibC.close(descriptor) }
    #endif
    descriptor = -1
  }
}
