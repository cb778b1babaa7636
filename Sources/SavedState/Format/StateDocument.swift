import AppLifecycle
import JSONReading

/// What a file of saved state says (Docs/RecordFormat.md has its grammar).
struct StateDocument: Sendable, Hashable {
  /// The name of a value: a key of the application, or of a window.
  struct Name: Sendable, Hashable {
    /// The window's session; nil for the application.
    var session: String?
    var key: String

    /// The name for a witness in a simulation.
    var witnessed: StateValueName { StateValueName(session: session, key: key) }
  }

  /// An encoded value.
  struct Entry: Sendable, Hashable {
    var name: Name
    /// The version of the value's form, as the program numbers it.
    var version: Int
    /// Whether it is a value that a program could not decode, kept beside the one that this program has written since.
    var isKept = false
    /// The value in JSON.
    var json: Data
  }

  /// The program whose state it is.
  var program: String
  /// The windows that were open, in the order of their first connection.
  var sessions: [String] = []
  var entries: [Entry] = []

  init(program: String, sessions: [String] = [], entries: [Entry] = []) {
    (self.program, self.sessions, self.entries) = (program, sessions, entries)
  }

  /// The reason why bytes are not state that this program may use.
  enum Problem: Error, Sendable, Hashable {
    /// Not what was written.
    case damaged(String)
    /// Whole, and not for this version or this program; it must not be replaced.
    case foreign(String)
  }

  /// The format's version, in the first line of each file.
  static let version = 1
  private static let magic = "saved-state"
  /// The length of the first line, with its line feed; the longest words leave some of it.
  private static let firstLength = 64

  // MARK: Writing

  /// Returns the bytes of the file.
  func encoded() throws -> [UInt8] {
    let index = Index(
      program: program, sessions: sessions.isEmpty ? nil : sessions,
      values: entries.map {
        Index.Value(
          key: $0.name.key, session: $0.name.session, version: $0.version == 1 ? nil : $0.version,
          kept: $0.isKept ? true : nil, bytes: $0.json.count)
      })
    let indexLine = try index.encodedJSON()
    let count = entries.reduce(indexLine.count + 1) { $0 + $1.json.count + 1 }
    return Array(unsafeUninitializedCapacity: Self.firstLength + count) { buffer, initialized in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      // The first line needs the checksum of what follows it, so room is left.
      var end = Self.firstLength
      func append(_ data: Data) {
        data.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: bytes[end...]))
        bytes[end + data.count] = UInt8(ascii: "\n")
        end += data.count + 1
      }
      append(indexLine)
      for entry in entries { append(entry.json) }
      let checksum = Checksum(
        of: UnsafeRawBufferPointer(rebasing: bytes[Self.firstLength..<end]), version: Self.version)
      bytes.copyBytes(from: Self.firstLine(Self.version, checksum, count))
      initialized = Self.firstLength + count
    }
  }

  /// Returns the first line of a file that has these bytes behind it.
  static func firstLine(for body: [UInt8]) -> [UInt8] {
    firstLine(version, body.withUnsafeBytes { Checksum(of: $0, version: version) }, body.count)
  }

  /// The first line, filled with spaces.
  private static func firstLine(_ version: Int, _ checksum: Checksum, _ count: Int) -> [UInt8] {
    let words = Array("\(magic) \(version) \(String(checksum.value, radix: 16)) \(count)".utf8)
    return words + [UInt8](repeating: UInt8(ascii: " "), count: firstLength - 1 - words.count) + [UInt8(ascii: "\n")]
  }

  // MARK: Reading

  /// Reads the bytes of a file.
  ///
  /// - Parameters:
  ///   - bytes: the whole file.
  ///   - program: the program that reads.
  /// - Throws: the reason why the bytes are not state that this program may use.
  init(_ bytes: [UInt8], of program: String) throws(Problem) {
    try Self.checkFirstLine(of: bytes)
    let body = bytes[Self.firstLength...]
    guard let end = body.firstIndex(of: UInt8(ascii: "\n")) else { throw .damaged("it has no second line") }
    let file = SharedBytes(bytes).data
    let index: Index
    do { index = try file[Self.firstLength..<end].decodedJSON(as: Index.self) } catch {
      throw .damaged("its second line is not an index")
    }
    guard index.program == program else { throw .foreign("it is the state of the program \(index.program)") }
    self.program = program
    sessions = index.sessions ?? []
    entries.reserveCapacity(index.values.count)
    var offset = end + 1
    for value in index.values {
      guard value.bytes >= 0, value.bytes < file.count - offset else {
        throw .damaged("the value of \(value.key) is not complete")
      }
      entries.append(
        Entry(
          name: Name(session: value.session, key: value.key), version: value.version ?? 1, isKept: value.kept ?? false,
          json: file[offset..<(offset + value.bytes)]))
      offset += value.bytes + 1
    }
  }

  /// Throws unless the first line is that of this version, to the byte, and of the bytes after it.
  ///
  /// Every version has the same first line. A line of another version that does not fit the bytes after it is damaged.
  private static func checkFirstLine(of bytes: [UInt8]) throws(Problem) {
    guard !bytes.isEmpty else { throw .damaged("it is empty") }
    guard bytes.count >= firstLength, bytes[firstLength - 1] == UInt8(ascii: "\n") else {
      throw .damaged("its first line is not that of saved state")
    }
    let words = String(decoding: bytes[..<(firstLength - 1)], as: UTF8.self).split(separator: " ")
    guard words.count == 4, words[0] == magic, let version = Int(words[1]), 1...999_999 ~= version,
      let count = Int(words[3])
    else {
      throw .damaged("its first line is not that of saved state")
    }
    let real = bytes.count - firstLength
    guard count == real else { throw .damaged("it has \(real) bytes after its first line, not \(count)") }
    let checksum = bytes.withUnsafeBytes {
      Checksum(of: UnsafeRawBufferPointer(rebasing: $0[firstLength...]), version: version)
    }
    guard bytes.starts(with: firstLine(version, checksum, count)) else {
      throw .damaged("its checksum is not that of its content")
    }
    guard version == Self.version else { throw .foreign("it has version \(version), which a newer program wrote") }
  }
}

/// The second line of a file: which values follow, and how long each is.
private struct Index: Codable {
  struct Value: Codable {
    var key: String
    var session: String?
    var version: Int?
    var kept: Bool?
    var bytes: Int
  }

  var program: String
  var sessions: [String]?
  var values: [Value]
}

/// The bytes of a file, which the values in it share: a copy would take a good part of the time of a restoration.
private final class SharedBytes: Sendable {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The bytes, which live as long as the data.
  var data: Data {
    bytes.withUnsafeBytes { all in
      guard let start = all.baseAddress else { return Data() }
      // An array that is not changed stays where it is, and the data keeps it.
      return Data(
        bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: all.count,
        deallocator: .custom { _, _ in withExtendedLifetime(self) {} })
    }
  }
}
