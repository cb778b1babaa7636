import BenchmarkHarness
import CBenchmarks
import CPeers
import Foundation

/// Measures the event bus against a floor and against what else there is, in one run and interleaved, and the life cycle.
///
/// Ends with status 0; with 1 if a bound is not reached (`--check`) or a contestant did not do its work; with 2 if the
/// command line cannot be understood.
@main enum Benchmarks {
  static func main() {
    let machine = Machine.current()
    do {
      let names = sections(Scale(isQuick: false)).map(\.name)
      let options = try Options(Array(CommandLine.arguments.dropFirst()), sections: names)
      if options.wantsHelp { return print(help(names)) }
      if options.checks && !machine.isOptimized {
        throw Options.Misuse("--check judges optimised builds only: swift run -c release Benchmarks --check")
      }
      exit(try run(options, on: machine) ? 0 : 1)
    } catch let misuse as Options.Misuse {
      complain("\(misuse)")
      exit(2)
    } catch {
      complain("\(error)")
      exit(1)
    }
  }

  /// Measures and prints; false if the run was to be checked and something falls short.
  private static func run(_ options: Options, on machine: Machine) throws -> Bool {
    print(machine.summary)
    // C and C++ libraries drop their atomics in a process of one thread, and look several times too fast.
    let parked = ParkedThread()
    defer { parked.end() }
    var report = Report(machine: machine, isQuick: options.isQuick)
    var shortfalls: [String] = []
    for section in sections(Scale(isQuick: options.isQuick)) {
      guard options.only.isEmpty || options.only.contains(section.name) else { continue }
      let results = try section.measure()
      print("\n" + Table.lines(section, results).joined(separator: "\n"))
      if let note = section.note?(results) { print(note) }
      // Also into a pipe: a run takes minutes.
      fflush(nil)
      report.append(section, results)
      for judgement in section.judgements where judgement.verdict(in: results) == .fallsShort {
        shortfalls.append(Table.sentence(section, judgement, results))
      }
    }
    report.notes = notes(machine)
    if !report.notes.isEmpty { print("\n" + report.notes.joined(separator: "\n")) }
    if let path = options.jsonPath { try report.write(to: path) }
    guard options.checks else { return true }
    let verdict = shortfalls.isEmpty ? "Everything that was measured reaches its bound." : "Falls short:"
    print("\n" + ([verdict] + shortfalls).joined(separator: "\n"))
    return shortfalls.isEmpty
  }

  private static func sections(_ scale: Scale) -> [Section] {
    [
      .posting(scale), .forms(scale), .threads(scale), .subscribing(scale), .cancelling(scale), .subjects(scale),
      .delivery(scale),
      .memory(scale), .counts(), .notification(scale), .cycles(scale), .resources(scale), .bridging(scale),
      .observers(scale),
      .journal(scale), .saving(scale), .savingMuch(scale), .restoring(scale), .unchangedState(scale),
    ]
  }

  /// What cannot be measured here, and why.
  private static func notes(_ machine: Machine) -> [String] {
    var notes: [String] = []
    if Build.isPortable { notes.append("The portable build: an owner's handler is judged by the weak floor.") }
    if machine.isBusy {
      notes.append("The machine was busy when this began: times by the clock on the wall say little.")
    }
    for (peer, library) in [(Peer.boost, "boost::signals2"), (.sigc, "libsigc++")] where peer.makeSignal() == nil {
      notes.append("\(library) was not measured: its headers were not found when this was built.")
    }
    if !bench_can_count() { notes.append("Allocations and reference counts cannot be counted in this build.") }
    return notes
  }

  private static func help(_ names: [String]) -> String {
    """
    Measures the event bus against bare calls, closures, Foundation, AsyncStream and the signal libraries that are installed,
    and what a life cycle costs: a notification, home and back, resources by the thousand, observers, a journal, and saved state.

    usage: swift run -c release Benchmarks [--quick] [--only NAME]… [--check] [--json FILE]

      --quick      fewer and shorter rounds: half a minute
      --only NAME  one table, may be repeated: \(names.joined(separator: ", "))
      --check      print what falls short of its bound, and end with status 1 if anything does
      --json FILE  write everything that was measured, every round of it
    """
  }

  private static func complain(_ sentence: String) {
    FileHandle.standardError.write(Data("Benchmarks: \(sentence)\n".utf8))
  }
}
