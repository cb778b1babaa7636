#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// How far the reading of a long file has got, on the terminal of whoever waits for it.
final class Progress {
  private var shown = -1
  private static let shortest: Int64 = 32 * 1_024 * 1_024

  /// Nil where nobody looks, or where the output itself is what one sees.
  init?() {
    guard isatty(2) == 1, isatty(1) == 0 else { return nil }
  }

  func show(_ name: String, _ position: Int64, of size: Int64) {
    guard size >= Self.shortest else { return }
    let percent = Int(min(position, size) * 100 / size)
    guard percent != shown else { return }
    shown = percent
    try? StandardStreams.write("\r\(name.printable): \(percent) %", to: .error)
  }

  func clear() {
    if shown >= 0 { try? StandardStreams.write("\r\u{1B}[K", to: .error) }
    shown = -1
  }
}
