import Foundation
import FoundationNetworking
import ProbeSupport
import TerminalProbeProgram

/// What the words of the variable RUN_LOOP have the program do on Foundation's run loop.
///
/// - `timer`: a timer writes a line every 10 ms.
/// - `zero`: a repeating timer of zero seconds writes a line the first time.
/// - `again`: a timer of zero seconds makes the next one, and every hundredth writes a line.
/// - `perform`: the run loop performs a block every 10 ms, which writes a line.
/// - `source`: a source of the run loop writes a line every 10 ms.
/// - `load:URL`: a request after another; each answer is written.
/// - `nested`: work of the main actor runs the run loop itself, until a timer has fired.
///
/// All of it must happen on the main actor, or the program traps.
@MainActor enum RunLoopWork {
  private static var count = 0

  static func begin(_ word: String) {
    let parts = word.split(separator: ":", maxSplits: 1).map(String.init)
    switch parts[0] {
    case "timer": every(0.01) { write("timer") }
    case "zero":
      every(0) {
        if count == 0 { write("zero") }
        count += 1
      }
    case "again": again()
    case "perform": every(0.01) { RunLoop.main.perform { MainActor.assumeIsolated { write("performed") } } }
    case "source":
      RunLoop.main._add(source, forMode: .default)
      every(0.01) { source.signal() }
    case "load": load(parts[1])
    case "nested": nest()
    default: fatalError("unknown word \(word)")
    }
  }

  fileprivate static func write(_ line: String) { Log.shared.write(line) }

  private static func every(_ seconds: TimeInterval, _ body: @escaping @MainActor @Sendable () -> Void) {
    _ = Timer.scheduledTimer(withTimeInterval: seconds, repeats: true) { _ in MainActor.assumeIsolated { body() } }
  }

  private static func again() {
    _ = Timer.scheduledTimer(withTimeInterval: 0, repeats: false) { _ in
      MainActor.assumeIsolated {
        count += 1
        if count % 100 == 0 { write("again") }
        again()
      }
    }
  }

  private static let source = LineSource()

  private static let session = URLSession(configuration: .ephemeral, delegate: nil, delegateQueue: .main)

  private static func load(_ address: String) {
    guard let url = URL(string: address) else { fatalError("no URL: \(address)") }
    session.dataTask(with: url) { data, _, error in
      MainActor.assumeIsolated {
        guard let data else { return write("load failed: \(String(describing: error))") }
        write("loaded \(String(decoding: data, as: UTF8.self))")
        load(address)
      }
    }.resume()
  }

  private static func nest() {
    var hasFired = false
    _ = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: false) { _ in
      MainActor.assumeIsolated { hasFired = true }
    }
    var isServed = false
    Task { isServed = true }
    while !hasFired { RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.01)) }
    // The work of the main actor that is under way comes to its end first, as on Apple's systems.
    write("nested \(isServed ? "with" : "without") the main actor's work")
  }
}

/// A source of the plainest kind, which is made on Linux for XCTest alone: all others need a socket.
private final class LineSource: RunLoop._Source {
  override func perform() { MainActor.assumeIsolated { RunLoopWork.write("source") } }
}
