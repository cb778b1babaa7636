import AppLifecycle
import AppLifecycleTesting
import Foundation

/// The recorder on a simulated device in virtual time: the same script gives the same table.
@MainActor final class RecorderDevice {
  private let system: SimulatedSystem
  private let recorder: EventRecorder
  private let processes: Processes

  /// The number of processes so far, which is the number of the latest one.
  private final class Processes {
    var count: Int32 = 0
  }

  init() {
    let (recorder, processes) = (EventRecorder(), Processes())
    system = SimulatedSystem {
      processes.count += 1
      return RecorderDelegate(recorder, process: processes.count)
    }
    let clock = system.clock
    recorder.now = { Date(timeIntervalSince1970: clock.now.offset / .seconds(1)) }
    (self.recorder, self.processes) = (recorder, processes)
  }

  func play(_ script: String) async throws { try await system.play(script) }

  /// The recorded events.
  var table: EventTable {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
    let isInMemory = system.application.state.isInMemory
    return EventTable(recorder.events, calendar: calendar) { [processes] in
      isInMemory && $0 == processes.count
    }
  }
}
