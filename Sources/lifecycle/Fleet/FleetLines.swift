#if MQTT
  import AppLifecycle
  import EventLink
  import PubSub
  import Scheduling

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// Prints a line for each change of a fleet, for pipes.
  @MainActor final class FleetLines {
    private let isJSON: Bool
    private let end = OneShot<StandardStreams.Failure>()

    init(isJSON: Bool, _ application: Application) {
      self.isJSON = isJSON
      let bus = application.bus
      bus.subscribe(to: Fleet.MemberDidChange.self, for: self) { $0.print($1) }
      bus.subscribe(to: Application.ResourceDidChange.self, for: self) { lines, change in
        // A connection that is lost, or refused; the application tries again.
        if case .retrying = change.resource.status { lines.complain(change.resource.lastError ?? "no connection") }
      }
    }

    /// Returns the error of standard output when it takes no more: its reader has gone, or it is full.
    func failureOfOutput() async -> StandardStreams.Failure { await end.value }

    private func print(_ change: Fleet.MemberDidChange) {
      guard let topic = (change.member ?? change.former)?.id else { return }
      let member = change.member
      var line = "\(topic.printable)  \(member?.state.description ?? "gone")"
      if let cause = member?.cause { line += "  \(cause.printable)" }
      if isJSON {
        line =
          "{\"topic\":\(topic.asJSON),\"state\":\((member?.state.name).json),\"status\":\(member?.state.status.map { "\($0)" } ?? "null"),\"cause\":\((member?.cause).json),\"time\":\((member?.timeText).json)}"
      }
      do { try StandardStreams.write(line + "\n", to: .output) } catch { end.settle(error) }
    }

    private func complain(_ reason: String) {
      try? StandardStreams.write("lifecycle: \(reason.printable)\n", to: .error)
    }
  }

  extension Fleet.Member {
    /// When it announced its state, in the form of ISO 8601.
    var timeText: String? { time?.formatted(.iso8601) }
  }

  extension Fleet.MemberState {
    /// The state without its details.
    fileprivate var name: String {
      switch self {
      case .running(let state): state.rawValue
      case .ended: "ended"
      case .vanished: "vanished"
      }
    }

    fileprivate var status: Int32? { if case .ended(let status) = self { status } else { nil } }
  }
#endif
