import LibC

#if canImport(Darwin)
  import MachO
#endif

/// The facts about the process and the machine that a journal records.
package struct RunFacts: Sendable {
  /// The program's name, without its directory.
  package var program: String
  /// The process identifier.
  package var processID: Int32
  /// An identifier of the device's start; nil if the system has none.
  package var bootID: String?
  /// The time of the wall clock, since 1970 in UTC.
  package var wallTime: @Sendable () -> Duration
  /// The time since the device's start, sleep included, by a clock that is never set; nil if there is none.
  package var uptime: @Sendable () -> Duration?

  package init(
    program: String, processID: Int32, bootID: String?, wallTime: @escaping @Sendable () -> Duration,
    uptime: @escaping @Sendable () -> Duration? = { nil }
  ) {
    (self.program, self.processID, self.bootID) = (program, processID, bootID)
    (self.wallTime, self.uptime) = (wallTime, uptime)
  }

  /// Returns the facts about this process.
  package static func ofThisProcess() -> RunFacts {
    RunFacts(
      program: program(startedAs: CommandLine.arguments.first ?? ""), processID: getpid(),
      bootID: bootID(), wallTime: { read(CLOCK_REALTIME) }, uptime: { readUptime() })
  }

  /// Returns the name of a program: the last part of the path by which it was started, or of its executable file.
  ///
  /// The caller of a program may give it any path, an empty one, too. A directory also has this name, so it is neither
  /// empty nor `..`.
  package static func program(startedAs path: String, executable: () -> String? = Self.executable) -> String {
    lastPart(of: path) ?? executable().flatMap(lastPart) ?? "unnamed"
  }

  private static func lastPart(of path: String) -> String? {
    path.split(separator: "/").last.map(String.init).flatMap { [".", ".."].contains($0) ? nil : $0 }
  }

  /// The path of this process's executable file; nil if the system does not tell it.
  package static func executable() -> String? {
    #if canImport(Darwin)
      var count: UInt32 = 0
      _ = _NSGetExecutablePath(nil, &count)
      var bytes = [CChar](repeating: 0, count: Int(count))
      guard _NSGetExecutablePath(&bytes, &count) == 0 else { return nil }
      return String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    #else
      let path = (try? SystemFiles().readLink("/proc/self/exe")).flatMap(\.self)
      // An update may have replaced the file while the program runs.
      let mark = " (deleted)"
      return path.map { $0.hasSuffix(mark) ? String($0.dropLast(mark.count)) : $0 }
    #endif
  }

  private static func readUptime() -> Duration {
    #if os(Linux)
      read(CLOCK_BOOTTIME)
    #else
      // On Darwin this clock counts sleep.
      read(CLOCK_MONOTONIC)
    #endif
  }

  private static func read(_ clock: clockid_t) -> Duration {
    var time = timespec()
    clock_gettime(clock, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }

  private static func bootID() -> String? {
    #if os(Linux)
      return (try? FileSource("/proc/sys/kernel/random/boot_id").read(64)).flatMap { identifier($0[...]) }
    #elseif canImport(Darwin)
      var bytes = [UInt8](repeating: 0, count: 64)
      var count = bytes.count
      guard sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0 else { return nil }
      return identifier(bytes.prefix(count))
    #else
      return nil
    #endif
  }

  /// Returns the printable ASCII text at the beginning, without spaces; nil if there is none.
  private static func identifier(_ bytes: ArraySlice<UInt8>) -> String? {
    let text = bytes.prefix { $0 > 0x20 && $0 < 0x7F }
    return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
  }
}
