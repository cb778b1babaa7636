/// The diagram as an SVG picture, in light or in dark, as the reader's system is set.
///
/// This type decides the positions of states and arrows. The state machine decides which exist, and their labels.
struct StateDrawing {
  let diagram: StateDiagram

  /// A point of the picture.
  struct Point: Equatable {
    var x: Int
    var y: Int
  }

  /// The position of a state, whichever life cycle it belongs to.
  private enum Place: String {
    case outside, inactive, active, background, suspended

    init?(state: String) {
      switch state {
      case "notRunning", "unattached": self = .outside
      case "inactive", "foregroundInactive": self = .inactive
      case "active", "foregroundActive": self = .active
      default: self.init(rawValue: state)
      }
    }

    var center: Point {
      switch self {
      case .outside: Point(x: 110, y: 270)
      case .inactive: Point(x: 520, y: 120)
      case .active: Point(x: 880, y: 120)
      case .background: Point(x: 520, y: 430)
      case .suspended: Point(x: 880, y: 430)
      }
    }
  }

  /// An arrow: its points, and the place where its label begins.
  private struct Arrow {
    let from: Place
    let to: Place
    let path: String
    let label: Point
    var anchor = "middle"
    /// Whether the label grows upwards from its place.
    var growsUp = false
  }

  private static let size = Point(x: 1_000, y: 530)
  private static let lineHeight = 18

  private static let arrows = [
    Arrow(
      from: .outside, to: .inactive, path: "M 110 242 C 110 150 230 110 438 110", label: Point(x: 232, y: 108),
      anchor: "end", growsUp: true),
    Arrow(
      from: .outside, to: .background, path: "M 110 298 C 110 390 230 440 438 440", label: Point(x: 212, y: 446),
      anchor: "end"),
    Arrow(
      from: .background, to: .outside, path: "M 450 402 C 400 330 330 282 194 276", label: Point(x: 222, y: 326)),
    Arrow(from: .inactive, to: .active, path: "M 602 110 L 796 110", label: Point(x: 700, y: 100), growsUp: true),
    Arrow(from: .active, to: .inactive, path: "M 798 130 L 604 130", label: Point(x: 700, y: 152)),
    Arrow(from: .inactive, to: .background, path: "M 510 148 L 510 400", label: Point(x: 500, y: 210), anchor: "end"),
    Arrow(from: .background, to: .inactive, path: "M 530 402 L 530 150", label: Point(x: 542, y: 292), anchor: "start"),
    Arrow(from: .background, to: .suspended, path: "M 602 420 L 796 420", label: Point(x: 700, y: 410), growsUp: true),
    Arrow(from: .suspended, to: .background, path: "M 798 440 L 604 440", label: Point(x: 700, y: 463)),
  ]

  /// The picture as a file of its own.
  var file: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.size.x) \(Self.size.y)" width="\(Self.size.x)" height="\(Self.size.y)" role="img" aria-label="\(name)">
    <style>
    \(HTMLPage.palette)
    \(Self.style)
    </style>
    <rect class="paper" width="100%" height="100%"/>
    \(shapes)</svg>

    """
  }

  /// The picture for a page that defines the colors.
  var element: String {
    """
    <svg viewBox="0 0 \(Self.size.x) \(Self.size.y)" role="img" aria-label="\(name)" class="diagram">
    \(shapes)</svg>
    """
  }

  private var name: String {
    "The states of \(diagram.subject == "scene" ? "a scene" : "an application") and the changes between them"
  }

  private var shapes: String {
    var svg = """
      <defs><marker id="\(diagram.subject)-tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="tip" d="M 0 0 L 10 5 L 0 10 z"/></marker></defs>

      """
    svg += lossFrame
    for change in diagram.changes where !change.losesProcess {
      let (from, to) = (Place(state: change.from), Place(state: change.to))
      guard let arrow = Self.arrows.first(where: { $0.from == from && $0.to == to }) else { continue }
      svg += "<g class=\"change\" data-change=\"\(change.from) \(change.to)\">"
      svg += "<path class=\"arrow\" d=\"\(arrow.path)\" marker-end=\"url(#\(diagram.subject)-tip)\"/>"
      svg += label(of: change, at: arrow) + "</g>\n"
    }
    for state in diagram.states {
      guard let place = Place(state: state) else { continue }
      let center = place.center
      svg += "<g class=\"state \(place.rawValue)\" data-state=\"\(state)\">"
      svg += "<rect x=\"\(center.x - 82)\" y=\"\(center.y - 28)\" width=\"164\" height=\"56\" rx=\"12\"/>"
      svg += "<text x=\"\(center.x)\" y=\"\(center.y + 5)\">\(state)</text></g>\n"
    }
    return svg
  }

  /// Around the states whose process may vanish: one arrow for all of them.
  private var lossFrame: String {
    let losses = diagram.losses
    guard let first = losses.first else { return "" }
    let shared = first.inputs.filter { input in losses.allSatisfy { $0.inputs.contains(input) } }
    var lines = ["\(shared.joined(separator: " ")): nothing is called"]
    for loss in losses {
      let more = loss.inputs.filter { !shared.contains($0) }
      if !more.isEmpty { lines.append("\(loss.from): also \(more.joined(separator: " "))") }
    }
    var svg =
      "<g class=\"change loss\" data-change=\"loss\"><rect class=\"frame\" x=\"312\" y=\"8\" width=\"680\" height=\"514\" rx=\"18\"/>"
    svg += "<path class=\"arrow\" d=\"M 312 246 L 196 258\" marker-end=\"url(#\(diagram.subject)-tip)\"/>"
    for (index, line) in lines.enumerated() {
      svg +=
        "<text class=\"input\" x=\"980\" y=\"\(508 - Self.lineHeight * (lines.count - 1 - index))\" text-anchor=\"end\">\(line)</text>"
    }
    return svg + "</g>\n"
  }

  private func label(of change: StateDiagram.Change, at arrow: Arrow) -> String {
    let inputs = change.inputs.withoutWindowNames
    let lines = (change.before + change.after).map { ($0, "call") } + diagram.wrapped(inputs, 24).map { ($0, "input") }
    let top = arrow.growsUp ? arrow.label.y - Self.lineHeight * (lines.count - 1) : arrow.label.y
    return lines.enumerated().map { index, line in
      "<text class=\"\(line.1)\" x=\"\(arrow.label.x)\" y=\"\(top + Self.lineHeight * index)\" text-anchor=\"\(arrow.anchor)\">\(line.0)</text>"
    }.joined()
  }
}

extension [String] {
  /// The inputs, with one in place of those that differ in the window alone: `scene:open:ID`.
  fileprivate var withoutWindowNames: [String] {
    func isForWindow(_ input: String, _ window: String) -> Bool { input.hasSuffix(":" + window) }
    return compactMap { input in
      let action = input.prefix(through: input.lastIndex(of: ":") ?? input.startIndex)
      if isForWindow(input, "second"), contains(action + "main") { return nil }
      return isForWindow(input, "main") && contains(action + "second") ? action + "ID" : input
    }
  }
}
