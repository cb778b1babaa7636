import AppLifecycleTesting

@testable import AppLifecycle

/// A suite that notes what happens to resources and bodies of a simulated system, each with the seconds on its clock.
@MainActor protocol CornerSuite {
  var system: SimulatedSystem { get }
  var model: CornerModel { get }
}

/// What has been noted; the owner of bodies.
@MainActor final class CornerModel {
  var lines: [String] = []
}

struct CornerFailure: Error {}

extension CornerSuite {
  var application: Application { system.application }
  var clock: ManualClock { system.clock }

  func at(_ text: String) { model.lines.append("\(text) \(Double(clock.now.offset / .milliseconds(1)) / 1000)") }

  /// A resource that notes `+name` and `-name`; its handle counts the acquires.
  @discardableResult
  func manage(
    _ name: String, while phase: LifecyclePhase = .foreground, after: [String] = []
  ) throws -> ManagedResource<Int> {
    var number = 0
    return try application.manage(name, while: phase, after: after) {
      number += 1
      at("+\(name)")
      return number
    } release: { _ in
      at("-\(name)")
    }
  }
}
