import BenchmarkHarness
import CBenchmarks
import CPeers
import Foundation

/// Measures the event bus against a floor and against what else there is, in one run and interleaved, and the life cycle.
@main enum Benchmarks {
  static func main() {
    // C and C++ libraries drop their atomics in a process of one thread, and look several times too fast.
    let parked = ParkedThread()
    let program = BenchmarkProgram(
      "Benchmarks", command: "swift run -c release Benchmarks",
      about: """
        Measures the event bus against bare calls, closures, Foundation, AsyncStream and the signal libraries that are installed,
        and what a life cycle costs: a notification, home and back, resources by the thousand, observers, a journal, and saved state.
        """, sections: { sections(Scale(isQuick: $0)) }, notes: { _ in notes() })
    let status = program.run()
    parked.end()
    exit(status)
  }

  private static func sections(_ scale: Scale) -> [Section] {
    [
      .posting(scale), .forms(scale), .threads(scale), .subscribing(scale), .cancelling(scale), .subjects(scale),
      .delivery(scale),
      .memory(scale), .counts(), .notification(scale), .cycles(scale), .resources(scale), .bridging(scale),
      .observers(scale),
      .journal(scale), .saving(scale), .savingMore(scale), .savingMuch(scale), .restoring(scale),
      .unchangedState(scale),
    ]
  }

  /// What cannot be measured here, and why.
  private static func notes() -> [String] {
    var notes: [String] = []
    if Build.isPortable { notes.append("The portable build: an owner's handler is judged by the weak floor.") }
    for (peer, library) in [(Peer.boost, "boost::signals2"), (.sigc, "libsigc++")] where peer.makeSignal() == nil {
      notes.append("\(library) was not measured: its headers were not found when this was built.")
    }
    if !bench_can_count() { notes.append("Allocations and reference counts cannot be counted in this build.") }
    return notes
  }
}
