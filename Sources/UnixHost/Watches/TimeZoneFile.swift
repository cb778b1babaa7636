import LibC
import Scheduling

/// The stored rules of the local time zone, and their changes.
struct TimeZoneFile: Sendable {
  /// The descriptor to poll; -1 if changes are not reported.
  let descriptor: Int32
  /// The way in which changes are observed, or the reason why they are not.
  let availability: HostCapability.Availability

  private static let directory = "/etc"
  private static let name = "localtime"

  /// Opens the source of the machine.
  static func live() -> TimeZoneFile {
    if Environment.variable("TZ") != nil {
      return TimeZoneFile(descriptor: -1, availability: .unavailable("TZ is set, so the time zone does not change"))
    }
    #if canImport(Darwin)
      return TimeZoneFile(descriptor: -1, availability: .unavailable("this system does not report changes"))
    #else
      let descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
      // Watch the directory, because the file is replaced and not overwritten.
      let mask = UInt32(IN_MOVED_TO | IN_CREATE | IN_CLOSE_WRITE | IN_DELETE)
      guard descriptor >= 0, inotify_add_watch(descriptor, directory, mask) >= 0 else {
        let reason = "inotify: \(String(cString: strerror(errno)))"
        if descriptor >= 0 { close(descriptor) }
        return TimeZoneFile(descriptor: -1, availability: .unavailable(reason))
      }
      return TimeZoneFile(descriptor: descriptor, availability: .available("\(directory)/\(name)"))
    #endif
  }

  /// The rules; nil without a file, which means UTC.
  var contents: [UInt8]? {
    let file = open("\(Self.directory)/\(Self.name)", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    // Far more than the rules of any zone.
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = read(file, &buffer, buffer.count)
    return count >= 0 ? Array(buffer[..<count]) : nil
  }

  /// Reads the events of the directory; returns true if one may concern the file.
  func takeTouch() -> Bool {
    #if canImport(Darwin)
      return false
    #else
      var buffer = [UInt8](repeating: 0, count: 4096)
      var isTouched = false
      while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
        var place = 0
        while place + 16 <= count {
          let length = buffer.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: place + 12, as: UInt32.self)) }
          let name = buffer[(place + 16)..<(place + 16 + length)].prefix { $0 != 0 }
          if name.elementsEqual(Self.name.utf8) { isTouched = true }
          place += 16 + length
        }
      }
      return isTouched
    #endif
  }
}
