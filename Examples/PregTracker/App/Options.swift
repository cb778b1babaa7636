import ExampleSupport
import Glibc

/// The options of the command line.
struct Options: Equatable, Sendable {
  var dueDate: CivilDate?
  var stateDirectory: String?
  var todayPath: String?
  var journalPath: String?
  var tips: Endpoint?
  var isStale = false
  var script: String?
  var wantsHelp = false

  /// A command line that cannot be read; the description names the option.
  struct Mistake: Error, Equatable, CustomStringConvertible {
    let description: String

    /// The text quotes arguments with control characters made visible, so that they cannot command the terminal.
    init(description: String) { self.description = description.escaped }
  }

  /// Reads the arguments, without the program's name.
  ///
  /// An option's value follows it, or an equals sign: `--due=2026-06-25`.
  init(_ arguments: some Sequence<String>) throws(Mistake) {
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts.first.map(String.init) ?? ""
      var attached = parts.count > 1 ? String(parts[1]) : nil

      func value() throws(Mistake) -> String {
        defer { attached = nil }
        guard let value = attached ?? rest.popFirst() else {
          throw Mistake(description: "\(name) wants a value")
        }
        return value
      }

      switch name {
      case "--due":
        let text = try value()
        do throws(CivilDateError) {
          dueDate = try CivilDate(text)
        } catch {
          throw Mistake(description: "--due: \(error)")
        }
      case "--state": stateDirectory = try value()
      case "--today-file": todayPath = try value()
      case "--journal": journalPath = try value()
      case "--tips":
        let text = try value()
        guard let endpoint = Endpoint(text) else {
          throw Mistake(description: "--tips: “\(text)” is not HOST:PORT")
        }
        tips = endpoint
      case "--script": script = try value()
      case "--stale": isStale = true
      case "--help", "-h": wantsHelp = true
      default: throw Mistake(description: "unknown option “\(argument)”")
      }
      if attached != nil { throw Mistake(description: "\(name) takes no value") }
    }
    if journalPath != nil, script != nil {
      throw Mistake(description: "--journal is for a run in a terminal; a script prints its record")
    }
  }

  static let help = """
    usage: PregTracker [options]

      --due YYYY-MM-DD     set the due date
      --state DIRECTORY    where it is kept
      --today-file PATH    a file that holds the calendar's today, read at each use
      --journal FILE       record the run, and tell how the one before ended
      --tips HOST:PORT     another tips server than the program's own
      --stale              leave out the refresh on return, and watch the label go stale
      --script SCRIPT      play a script on a simulated system: "launch; home; wait:1d; open"
      --help               this text

    Without a terminal on its output the program plays a script, too.
    """
}
