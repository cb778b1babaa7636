import AppLifecycle
import AppLifecycleTesting
import Foundation

/// The recorder on a simulated device in virtual time: the same script gives the same table.
@MainActor final class RecorderDevice {
  private let system: SimulatedSystem
  private let recorder: EventRecorder
  private let delegate: RecorderDelegate

  init() {
    let recorder = EventRecorder()
    var launches: Int32 = 0
    delegate = RecorderDelegate(recorder) {
      launches += 1
      return launches
    }
    system = SimulatedSystem(delegate: delegate)
    let clock = system.clock
    recorder.now = { Date(timeIntervalSince1970: clock.now.offset / .seconds(1)) }
    self.recorder = recorder
  }

  func play(_ script: String) async throws { try await system.play(script) }

  /// The recorded events.
  var table: EventTable {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
    let isInMemory = system.application.state.isInMemory
    return EventTable(recorder.events, calendar: calendar) { [delegate] in
      isInMemory && $0 == delegate.process
    }
  }
}
