#if MQTT
  import Glibc
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

    /// Another one would be sent, and the broker would say that it is wrong.
    @Test func `is no password in Latin-1`() async throws {
      try await withTemporaryDirectory { directory in
        try directory.write("", to: "password")
        let file = fopen(directory.file("password"), "w")
        for byte: Int32 in [0x67, 0x72, 0xFC, 0x6E] { fputc(byte, file) }
        fclose(file)
        #expect(throws: MQTTError.self) { try MQTTTransport.firstLine(of: directory.file("password")) }
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
