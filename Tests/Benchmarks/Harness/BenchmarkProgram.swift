import Foundation

/// A program that measures sections, prints their tables, and judges them.
package struct BenchmarkProgram {
  private let name: String
  private let command: String
  private let about: String
  private let sections: (_ isQuick: Bool) -> [Section]
  private let notes: (Machine) -> [String]

  /// A program.
  ///
  /// - Parameters:
  ///   - name: its name.
  ///   - command: the command that runs it.
  ///   - about: what it measures, for the help.
  ///   - sections: its sections, with fewer and shorter rounds if the argument is true.
  ///   - notes: what could not be measured here, and why.
  package init(
    _ name: String, command: String, about: String, sections: @escaping (_ isQuick: Bool) -> [Section],
    notes: @escaping (Machine) -> [String] = { _ in [] }
  ) {
    (self.name, self.command, self.about) = (name, command, about)
    (self.sections, self.notes) = (sections, notes)
  }

  /// Runs it as the command line says.
  ///
  /// - Returns: status 0; 1 if a bound is not reached (`--check`) or a contestant did not do its work; 2 if the command line
  ///   cannot be understood.
  package func run() -> Int32 {
    let machine = Machine.current()
    do {
      let names = sections(false).map(\.name)
      let options = try Options(Array(CommandLine.arguments.dropFirst()), sections: names)
      if options.wantsHelp {
        print(help(names))
        return 0
      }
      if options.checks && !machine.isOptimized {
        throw Options.Misuse("--check judges optimised builds only: \(command) --check")
      }
      return try run(options, on: machine) ? 0 : 1
    } catch let misuse as Options.Misuse {
      complain("\(misuse)")
      return 2
    } catch {
      complain("\(error)")
      return 1
    }
  }

  /// Measures and prints; false if the run was to be checked and something falls short.
  private func run(_ options: Options, on machine: Machine) throws -> Bool {
    print(machine.summary)
    var report = Report(machine: machine, isQuick: options.isQuick)
    var shortfalls: [String] = []
    for section in sections(options.isQuick) {
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
    if machine.isBusy {
      report.notes.append("The machine was busy when this began: times by the clock on the wall say little.")
    }
    if !report.notes.isEmpty { print("\n" + report.notes.joined(separator: "\n")) }
    if let path = options.jsonPath { try report.write(to: path) }
    guard options.checks else { return true }
    let verdict = shortfalls.isEmpty ? "Everything that was measured reaches its bound." : "Falls short:"
    print("\n" + ([verdict] + shortfalls).joined(separator: "\n"))
    return shortfalls.isEmpty
  }

  private func help(_ names: [String]) -> String {
    """
    \(about)

    usage: \(command) [--quick] [--only NAME]… [--check] [--json FILE]

      --quick      fewer and shorter rounds: half a minute
      --only NAME  one table, may be repeated: \(names.joined(separator: ", "))
      --check      print what falls short of its bound, and end with status 1 if anything does
      --json FILE  write everything that was measured, every round of it
    """
  }

  private func complain(_ sentence: String) { FileHandle.standardError.write(Data("\(name): \(sentence)\n".utf8)) }
}
