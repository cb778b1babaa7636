import Foundation
import TerminalProbeProgram

/// The same program, linked with the bridge, which brings Foundation's run loop along.
@main enum Main {
  static func main() {
    let words = ProcessInfo.processInfo.environment["RUN_LOOP"]?.split(separator: " ").map(String.init) ?? []
    // The loop runs the task before anything else.
    Task { @MainActor in for word in words { RunLoopWork.begin(word) } }
    TerminalProbe.main()
  }
}
