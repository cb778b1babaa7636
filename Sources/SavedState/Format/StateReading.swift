/// A reading of any bytes as saved state, for the fuzzer: what the reader promises of it.
package struct StateReading: Sendable {
  /// The promise that does not hold for the bytes; nil if all do.
  package let brokenPromise: String?

  /// Reads the bytes of a file.
  ///
  /// - Parameters:
  ///   - bytes: the file, or what stands behind its first line.
  ///   - hasFirstLine: whether the bytes begin with the first line; else one is made that fits them.
  package init(_ bytes: [UInt8], hasFirstLine: Bool) {
    brokenPromise = Self.brokenPromise(of: hasFirstLine ? bytes : StateDocument.firstLine(for: bytes) + bytes)
  }

  private static func brokenPromise(of bytes: [UInt8]) -> String? {
    let document: StateDocument
    do {
      document = try StateDocument(bytes, of: "fuzzed")
    } catch {
      switch error {
      case .damaged(let reason), .foreign(let reason): return reason.isEmpty ? "a refusal has no reason" : nil
      }
    }
    let contents = SavedContents(document)
    let again = contents.document(of: document.program)
    // Entries of one name stand together there, and each keeps what it had.
    guard again.sessions == document.sessions, Set(again.entries) == Set(document.entries),
      again.entries.count == document.entries.count
    else { return "what was read is not what would be saved" }
    guard let written = try? again.encoded(), let reread = try? StateDocument(written, of: "fuzzed") else {
      return "what was written cannot be read"
    }
    return reread == again ? nil : "what was written is read as something else"
  }
}
