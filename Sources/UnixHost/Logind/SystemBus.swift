#if Logind && os(Linux)
  import CSystemBus
  import Glibc

  /// A connection to the system bus, by libsystemd's client, which is loaded when the first connection is made.
  ///
  /// Never waits; for the thread alone that made it.
  final class SystemBus {
    /// Why a call, or the whole bus, failed.
    struct Failure: Error {
      /// For people.
      let reason: String

      init(_ reason: String) { self.reason = reason }

      /// From what a function of the library returned.
      init(result: Int32) { reason = String(cString: strerror(-result)) }
    }

    /// Names an object that is called.
    struct Object {
      var destination: String
      var path: String
      var interface: String
    }

    /// Names a call until it is answered.
    typealias Cookie = UInt64

    private let bus: OpaquePointer

    /// Begins to connect: `$DBUS_SYSTEM_BUS_ADDRESS`, else where the system's bus always is.
    init() throws(Failure) {
      var bus: OpaquePointer?
      let result = systembus_open_system(&bus)
      guard result >= 0, let bus else { throw Failure(result: result) }
      self.bus = bus
    }

    deinit { systembus_close_unref(bus) }

    /// The descriptors to poll.
    var descriptor: pollfd {
      let events = systembus_get_events(bus)
      return pollfd(fd: systembus_get_fd(bus), events: Int16(truncatingIfNeeded: max(0, events)), revents: 0)
    }

    /// When ``next()`` has to be called at the latest.
    var deadline: SuspendingClock.Instant? {
      var microseconds: UInt64 = 0
      guard systembus_get_timeout(bus, &microseconds) >= 0, microseconds != .max else { return nil }
      var now = timespec()
      clock_gettime(CLOCK_MONOTONIC, &now)
      let elapsed = Duration.seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
      return .now + (.microseconds(Int64(clamping: microseconds)) - elapsed)
    }

    /// Calls a method whose arguments are strings.
    func call(_ method: String, of object: Object, _ arguments: [String]) throws(Failure) -> Cookie {
      var message: OpaquePointer?
      var cookie: Cookie = 0
      var result = systembus_message_new_method_call(
        bus, &message, object.destination, object.path, object.interface, method)
      defer { systembus_message_unref(message) }
      for argument in arguments where result >= 0 {
        result = argument.withCString { systembus_message_append_basic(message, BusMessage.string, $0) }
      }
      if result >= 0 { result = systembus_send(bus, message, &cookie) }
      guard result >= 0 else { throw Failure(result: result) }
      return cookie
    }

    /// Goes on; the next message that has come, nil if there is none.
    func next() throws(Failure) -> BusMessage? {
      while true {
        var message: OpaquePointer?
        let result = systembus_process(bus, &message)
        guard result >= 0 else { throw Failure(result: result) }
        if let message { return BusMessage(message) }
        if result == 0 { return nil }
      }
    }
  }

  /// A message from the bus.
  ///
  /// Its contents are read once, in order.
  final class BusMessage {
    static let string = CChar(UInt8(ascii: "s"))
    private static let objectPath = CChar(UInt8(ascii: "o"))
    private static let boolean = CChar(UInt8(ascii: "b"))
    private static let unsigned = CChar(UInt8(ascii: "t"))
    private static let descriptor = CChar(UInt8(ascii: "h"))
    private static let variant = CChar(UInt8(ascii: "v"))
    private static let array = CChar(UInt8(ascii: "a"))
    private static let entry = CChar(UInt8(ascii: "e"))

    private let message: OpaquePointer

    /// Takes over a reference to the message.
    init(_ message: OpaquePointer) { self.message = message }

    deinit { systembus_message_unref(message) }

    /// The call that it answers.
    var answeredCall: SystemBus.Cookie? {
      var cookie: SystemBus.Cookie = 0
      return systembus_message_get_reply_cookie(message, &cookie) >= 0 ? cookie : nil
    }

    /// Why the call that it answers failed, read once; nil where it did not.
    var failure: SystemBus.Failure? {
      guard systembus_message_is_method_error(message, nil) > 0 else { return nil }
      return SystemBus.Failure(readString() ?? "it was refused")
    }

    /// The connection that sent it.
    var sender: String? { systembus_message_get_sender(message).map { String(cString: $0) } }

    /// The object of which it tells.
    var path: String? { systembus_message_get_path(message).map { String(cString: $0) } }

    func isSignal(_ member: String, of interface: String) -> Bool {
      systembus_message_is_signal(message, interface, member) > 0
    }

    // MARK: Contents

    func readString() -> String? { readText(Self.string) }
    func readPath() -> String? { readText(Self.objectPath) }

    /// The bus's boolean is as wide as an `Int32`.
    func readBool() -> Bool? {
      var value: Int32 = 0
      return systembus_message_read_basic(message, Self.boolean, &value) > 0 ? value != 0 : nil
    }

    func readUnsigned() -> UInt64? {
      var value: UInt64 = 0
      return systembus_message_read_basic(message, Self.unsigned, &value) > 0 ? value : nil
    }

    /// A descriptor of the caller's own, which no child inherits: the message's goes with the message.
    func readDescriptor() -> Int32? {
      var value: Int32 = -1
      guard systembus_message_read_basic(message, Self.descriptor, &value) > 0 else { return nil }
      let own = fcntl(value, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
      return own >= 0 ? own : nil
    }

    /// Reads what a variant of this type holds.
    func readVariant<Value>(_ type: String, _ read: () -> Value?) -> Value? {
      guard systembus_message_enter_container(message, Self.variant, type) > 0 else { return nil }
      defer { systembus_message_exit_container(message) }
      return read()
    }

    /// Reads the value of one key in a dictionary of variants; nil where it has no such key.
    func readEntry<Value>(_ key: String, _ type: String, _ read: () -> Value?) -> Value? {
      guard systembus_message_enter_container(message, Self.array, "{sv}") > 0 else { return nil }
      var value: Value?
      while systembus_message_enter_container(message, Self.entry, "sv") > 0 {
        if readString() == key { value = readVariant(type, read) } else { systembus_message_skip(message, "v") }
        systembus_message_exit_container(message)
      }
      systembus_message_exit_container(message)
      return value
    }

    private func readText(_ type: CChar) -> String? {
      var text: UnsafePointer<CChar>?
      return systembus_message_read_basic(message, type, &text) > 0 ? text.map { String(cString: $0) } : nil
    }
  }
#endif
