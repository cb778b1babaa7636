// The diagram as text: for a terminal, for Mermaid, and for Graphviz.

extension StateDiagram {
  /// The changes and calls as text, one below the other.
  var text: String {
    var text = ""
    for change in changes {
      text +=
        "\(change.from) → \(change.to)\(change.losesProcess ? "   the process vanishes, nothing is called" : "")\n"
      if !change.before.isEmpty { text += "  before  \(change.before.joined(separator: ", "))\n" }
      if !change.after.isEmpty { text += "  after   \(change.after.joined(separator: ", "))\n" }
      text += "  by      \(wrapped(change.inputs, 64).joined(separator: "\n          "))\n"
    }
    for state in states {
      let here = calls.filter { $0.state == state }
      if !here.isEmpty { text += "\(state), without a change\n" }
      for call in here {
        text += "  calls   \(call.callback)\n"
        text += "  by      \(wrapped(call.inputs, 64).joined(separator: "\n          "))\n"
      }
    }
    return text
  }

  /// The source of a diagram for Mermaid.
  var mermaid: String {
    var text = "stateDiagram-v2\n  direction LR\n  [*] --> \(states[0])\n"
    for change in changes.filter({ !$0.losesProcess }) + losses {
      text += "  \(change.from) --> \(change.to): \(lines(of: change).joined(separator: "<br>"))\n"
    }
    return text
  }

  /// The source of a diagram for Graphviz.
  var dot: String {
    var text = "digraph \(subject) {\n  rankdir=LR\n  node [shape=box, style=rounded, fontname=\"Helvetica\"]\n"
    text += "  edge [fontname=\"Helvetica\", fontsize=10]\n"
    for state in states { text += "  \(state)\n" }
    for change in changes {
      let label = lines(of: change).joined(separator: "\\n")
      text += "  \(change.from) -> \(change.to) [label=\"\(label)\"\(change.losesProcess ? ", style=dashed" : "")]\n"
    }
    return text + "}\n"
  }

  /// The changes without a process.
  var losses: [Change] { changes.filter(\.losesProcess) }

  /// The label of a change's arrow: its calls, and then the inputs that lead to it.
  private func lines(of change: Change) -> [String] { change.before + change.after + wrapped(change.inputs, 30) }

  /// Breaks words into lines of a width.
  func wrapped(_ words: [String], _ width: Int) -> [String] {
    var lines: [String] = []
    for word in words {
      if let last = lines.last, last.count + 1 + word.count <= width {
        lines[lines.count - 1] += " \(word)"
      } else {
        lines.append(word)
      }
    }
    return lines
  }
}
