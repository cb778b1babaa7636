#if Logind && os(Linux)
  import CSystemBus
  import LibC

  /// A connection to the system bus with libsystemd's client, which is loaded for the first connection.
  ///
  /// It never waits, and only the thread that created it may use it.
  final class SystemBus {
    /// The failure of a call, or of the whole bus.
    struct Failure: Error {
      /// The reason as text.
      let reason: String

      init(_ reason: String) { self.reason = reason }

      /// Creates the failure for a result of a library function.
      init(result: Int32) { reason = String(cString: strerror(-result)) }
    }

    /// The address of an object to call.
    struct Object {
      var destination: String
      var path: String
      var interface: String
    }

    /// The number of a call until its answer.
    typealias Cookie = UInt64

    private let bus: OpaquePointer

    /// Begins to connect to `$DBUS_SYSTEM_BUS_ADDRESS`, or to the default address of the system bus.
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

    /// The latest time at which ``next()`` must be called.
    var deadline: SuspendingClock.Instant? {
      var microseconds: UInt64 = 0
      guard systembus_get_timeout(bus, &microseconds) >= 0, microseconds != .max else { return nil }
      return .now + (.microseconds(Int64(clamping: microseconds)) - SignalPipe.now)
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

    /// Continues the work of the connection, and returns the next message; nil if there is none.
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
  /// Its contents can be read once, in order.
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

    /// Creates a message, and takes over the reference.
    init(_ message: OpaquePointer) { self.message = message }

    deinit { systembus_message_unref(message) }

    /// The call that the message answers.
    var answeredCall: SystemBus.Cookie? {
      var cookie: SystemBus.Cookie = 0
      return systembus_message_get_reply_cookie(message, &cookie) >= 0 ? cookie : nil
    }

    /// The failure of the call that the message answers, which can be read once; nil if the call did not fail.
    var failure: SystemBus.Failure? {
      guard systembus_message_is_method_error(message, nil) > 0 else { return nil }
      return SystemBus.Failure(readString() ?? "the call was refused")
    }

    /// The name of the connection that sent the message.
    var sender: String? { systembus_message_get_sender(message).map { String(cString: $0) } }

    /// The path of the object that the message is about.
    var path: String? { systembus_message_get_path(message).map { String(cString: $0) } }

    func isSignal(_ member: String, of interface: String) -> Bool {
      systembus_message_is_signal(message, interface, member) > 0
    }

    // MARK: Contents

    func readString() -> String? { readText(Self.string) }
    func readPath() -> String? { readText(Self.objectPath) }

    /// Reads a boolean, which is as wide as an `Int32` on the bus.
    func readBool() -> Bool? {
      var value: Int32 = 0
      return systembus_message_read_basic(message, Self.boolean, &value) > 0 ? value != 0 : nil
    }

    func readUnsigned() -> UInt64? {
      var value: UInt64 = 0
      return systembus_message_read_basic(message, Self.unsigned, &value) > 0 ? value : nil
    }

    /// Reads a descriptor, and returns a close-on-exec copy, because the message closes its own.
    func readDescriptor() -> Int32? {
      var value: Int32 = -1
      guard systembus_message_read_basic(message, Self.descriptor, &value) > 0 else { return nil }
      let own = fcntl(value, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
      return own >= 0 ? own : nil
    }

    /// Reads the contents of a variant with this type.
    func readVariant<Value>(_ type: String, _ read: () -> Value?) -> Value? {
      guard systembus_message_enter_container(message, Self.variant, type) > 0 else { return nil }
      defer { systembus_message_exit_container(message) }
      return read()
    }

    /// Reads the value of a key in a dictionary of variants; nil if the dictionary does not have the key.
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
