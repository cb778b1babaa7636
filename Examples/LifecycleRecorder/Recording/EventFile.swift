import ExampleSupport
import Foundation

/// A file that keeps events between launches, one JSON object a line.
///
/// Each event is one write at the end of the file. The system keeps it even if the process is killed: after `kill -9` the file
/// has all events up to then. Two programs may use one file at the same time.
struct EventFile {
  /// The events that the file held when it was opened.
  let earlier: [RecordedEvent]
  private let handle: FileHandle

  /// Opens the file; creates it and its folder if they do not exist.
  ///
  /// A line that is no event is left as it is: another program wrote it, or a full disk cut it short.
  init(path: String) throws {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let descriptor = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw SystemError(path) }
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    let bytes = try handle.readToEnd() ?? Data()
    earlier = bytes.split(separator: UInt8(ascii: "\n")).compactMap {
      try? Self.decoder.decode(RecordedEvent.self, from: $0)
    }
    // Ends a line that was cut short. Otherwise the next event would continue that line, and be lost with it.
    if let last = bytes.last, last != UInt8(ascii: "\n") { try handle.write(contentsOf: Data("\n".utf8)) }
  }

  /// Adds an event.
  func append(_ event: RecordedEvent) throws {
    try handle.write(contentsOf: try Self.encoder.encode(event) + Data("\n".utf8))
  }

  private static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.dateEncodingStrategy = .iso8601
    return encoder
  }

  private static var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return decoder
  }
}
