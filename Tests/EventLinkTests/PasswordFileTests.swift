#if MQTT
  import PseudoTerminal
  import Testing

  @testable import EventLink

  /// The file with the password for a broker.
  @Suite struct `The first line of a password file` {
    @Test(arguments: [
      ("secret", "secret"), ("secret\nsecond line\n", "secret"), ("of Windows\r\n", "of Windows"), ("\n", ""),
      (String(repeating: "p", count: 65_535) + "\r\n", String(repeating: "p", count: 65_535)),
    ]) func `is the password`(text: String, password: String) async throws {
      try await withTemporaryDirectory { directory in
        try directory.write(text, to: "password")
        #expect(try MQTTTransport.firstLine(of: directory.file("password")) == password)
      }
    }

    @Test(arguments: ["", String(repeating: "p", count: 65_536)]) func `is no part of a password`(
      text: String
    ) async throws {
      try await withTemporaryDirectory { directory in
        try directory.write(text, to: "password")
        #expect(throws: MQTTError.self) { try MQTTTransport.firstLine(of: directory.file("password")) }
      }
    }
  }
#endif
