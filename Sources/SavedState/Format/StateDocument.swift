#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import AppLifecycle

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
    /// Whole, and not for this version or this program; nobody may replace it.
    case foreign(String)
  }

  /// The format's version, in the first line of each file.
  static let version = 1
  private static let magic = "saved-state"

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
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let indexLine = try encoder.encode(index)
    let count = entries.reduce(indexLine.count + 1) { $0 + $1.json.count + 1 }
    // The first line needs the checksum of what follows it, so room is left for the longest one.
    let room = 64
    return Array(unsafeUninitializedCapacity: room + count) { buffer, initialized in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      var end = room
      func append(_ data: Data) {
        data.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: bytes[end...]))
        bytes[end + data.count] = UInt8(ascii: "\n")
        end += data.count + 1
      }
      append(indexLine)
      for entry in entries { append(entry.json) }
      let body = UnsafeRawBufferPointer(rebasing: bytes[room..<end])
      let first = "\(Self.magic) \(Self.version) \(String(Checksum(of: body).value, radix: 16)) \(count)"
      // Spaces fill the rest of the first line.
      let line = first + String(repeating: " ", count: room - 1 - first.utf8.count) + "\n"
      for (offset, byte) in line.utf8.enumerated() { bytes[offset] = byte }
      initialized = room + count
    }
  }

  // MARK: Reading

  /// Reads the bytes of a file.
  ///
  /// - Parameters:
  ///   - bytes: the whole file.
  ///   - program: the program that reads.
  /// - Throws: the reason why the bytes are not state that this program may use.
  init(_ bytes: [UInt8], of program: String) throws(Problem) {
    let (first, body) = try Self.parts(of: bytes)
    guard let number = Int(first[1]) else { throw .damaged("its first line is not that of saved state") }
    guard number <= Self.version else { throw .foreign("it has version \(number), which a newer program wrote") }
    guard first.count == 4, let checksum = UInt64(first[2], radix: 16), let count = Int(first[3]) else {
      throw .damaged("its first line is incomplete")
    }
    guard count == body.count else { throw .damaged("it has \(body.count) bytes after its first line, not \(count)") }
    let real = body.withUnsafeBytes { Checksum(of: $0) }
    guard real.value == checksum else { throw .damaged("its checksum is not that of its content") }
    guard let end = body.firstIndex(of: UInt8(ascii: "\n")) else { throw .damaged("it has no second line") }
    let index: Index
    do { index = try JSONDecoder().decode(Index.self, from: Data(body[..<end])) } catch {
      throw .damaged("its second line is not an index")
    }
    guard index.program == program else { throw .foreign("it is the state of the program \(index.program)") }
    self.program = program
    sessions = index.sessions ?? []
    let values = Data(body[(end + 1)...])
    var offset = 0
    for value in index.values {
      guard value.bytes >= 0, value.bytes < values.count - offset else {
        throw .damaged("the value of \(value.key) is not complete")
      }
      entries.append(
        Entry(
          name: Name(session: value.session, key: value.key), version: value.version ?? 1, isKept: value.kept ?? false,
          json: values[offset..<(offset + value.bytes)]))
      offset += value.bytes + 1
    }
  }

  /// Splits the words of the first line from the rest.
  private static func parts(of bytes: [UInt8]) throws(Problem) -> (first: [Substring], body: ArraySlice<UInt8>) {
    guard !bytes.isEmpty else { throw .damaged("it is empty") }
    guard let end = bytes.prefix(256).firstIndex(of: UInt8(ascii: "\n")) else {
      throw .damaged("its first line is not that of saved state")
    }
    let words = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ")
    guard words.count >= 2, words[0] == magic else { throw .damaged("its first line is not that of saved state") }
    return (words, bytes[(end + 1)...])
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
