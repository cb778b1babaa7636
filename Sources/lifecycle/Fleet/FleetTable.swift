#if MQTT
  import AppLifecycle
  import EventLink

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// The members of a fleet as lines of text; whatever a member's process wrote is made printable.
  struct FleetTable {
    private struct Row {
      var name: String
      var state: String
      var since: String
      var cause: String
    }

    private let rows: [Row]

    init(_ members: [Fleet.Member]) {
      let body = members.map { member in
        Row(
          name: member.id.printable, state: member.state.description, since: Self.text(of: member),
          cause: member.cause?.printable ?? "")
      }
      rows = [Row(name: "TOPIC", state: "STATE", since: "SINCE", cause: "CAUSE")] + body
    }

    private static func text(of member: Fleet.Member) -> String {
      member.time?.formatted(.iso8601) ?? "-"
    }

    /// The lines, none longer than a number of columns.
    func lines(columns: Int) -> [String] {
      func width(_ column: KeyPath<Row, String>) -> Int { rows.map { $0[keyPath: column].count }.max() ?? 0 }
      let (name, state, since) = (width(\.name), width(\.state), width(\.since))
      return rows.map { row in
        let text =
          "\(row.name.rightPadded(to: name))  \(row.state.rightPadded(to: state))  \(row.since.rightPadded(to: since))  \(row.cause)"
        return String(text.prefix(columns))
      }
    }
  }
#endif
