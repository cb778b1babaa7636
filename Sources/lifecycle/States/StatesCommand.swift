import AppLifecycle

/// `lifecycle states`: prints the states and the changes between them, as the state machine gives them.
struct StatesCommand: Action {
  /// The format of the output.
  enum Form: String, CaseIterable {
    case text, html, svg, dot, mermaid

    /// The format for a file name's ending.
    init?(ending: Substring) {
      switch ending {
      case "mmd": self = .mermaid
      case "gv": self = .dot
      case "txt": self = .text
      default: self.init(rawValue: String(ending))
      }
    }
  }

  var profile = SimulateCommand.Profile.app
  var form = Form.text
  var output = "-"

  init(_ arguments: inout Arguments) throws(UsageError) {
    var output: String?
    var form: Form?
    while let option = try arguments.nextOption() {
      switch option {
      case "--profile": profile = try arguments.choice(of: option)
      case "--format": form = try arguments.choice(of: option)
      default: output = try arguments.value(of: "-o", "a file: page.html, states.svg, states.dot or states.mmd")
      }
    }
    try arguments.requireNoOperand()
    if let output, output != "-" {
      guard let form = form ?? output.split(separator: ".").last.flatMap({ Form(ending: $0) }) else {
        throw UsageError("choose the format of '\(output)' by its ending, .html, .svg, .dot or .mmd, or by --format")
      }
      (self.form, self.output) = (form, output)
    } else {
      self.form = form ?? .text
    }
  }

  func run() throws -> ExitStatus {
    let file = OutputFile(output)
    try file.write(text)
    try file.finish()
    return .success
  }

  private var text: String {
    // Two windows on the page, so that a reader can see how they follow each other; one is enough for a diagram.
    let graph = StateGraph(
      profile == .scene ? .scenes : .application, windows: form == .html ? [.main, "second"] : [.main])
    if form == .html { return StatePage(graph: graph).text }
    var diagrams = [StateDiagram.application(graph)]
    if profile == .scene { diagrams.append(.scene(graph, .main)) }
    switch form {
    case .text: return diagrams.map { "\($0.subject)\n\n\($0.text)" }.joined(separator: "\n")
    case .dot: return diagrams.map(\.dot).joined(separator: "\n")
    // A Mermaid file and an SVG file hold one diagram: that of a scene, if there are scenes.
    case .mermaid: return diagrams[diagrams.count - 1].mermaid
    case .svg, .html: return StateDrawing(diagram: diagrams[diagrams.count - 1]).file
    }
  }
}
