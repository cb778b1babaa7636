import AppLifecycleTesting
import Foundation
import PubSub

/// Something that the user or the system does.
enum ShopAction {
  case launch, home, open, memoryWarning, clockChange, terminate
  case nextDay
}

/// One run of the shop's program, on a simulated system or, before the way begins, with notifications that a test posts.
@MainActor final class ShopRun {
  let program: ShopProgram
  let system: SimulatedSystem?
  private var platform: PlatformNotifications?

  var parts: ShopParts { program.parts }
  var facts: ShopFacts { parts.facts }
  var log: [String] { parts.log.all }

  convenience init(_ stage: ShopStage) throws {
    try self.init(cameOver: stage.cameOver, hasApplication: stage != .before)
  }

  init(cameOver: Set<ShopPart>, hasApplication: Bool = true) throws {
    let center = NotificationCenter()
    system = hasApplication ? SimulatedSystem() : nil
    platform = hasApplication ? nil : PlatformNotifications(center)
    program = try ShopProgram(center: center, application: system?.application, cameOver: cameOver)
  }

  func play(_ actions: ShopAction...) async throws {
    for action in actions {
      if action == .nextDay { parts.today.day += 1 }
      platform?.post(action)
      try await system?.play(Self.script(action))
    }
  }

  private static func script(_ action: ShopAction) -> String {
    switch action {
    case .launch: "launch"
    case .home: "home"
    case .open: "open"
    case .memoryWarning: "memory"
    case .clockChange: "time"
    case .terminate: "quit"
    case .nextDay: "wait:1d"
    }
  }
}

/// The notifications of a platform that posts them by itself.
@MainActor private struct PlatformNotifications {
  private let center: NotificationCenter
  private var isInForeground = false

  init(_ center: NotificationCenter) { self.center = center }

  mutating func post(_ action: ShopAction) {
    let names: [Notification.Name]
    switch action {
    case .launch: names = [.didFinishLaunching, .didBecomeActive]
    case .home: names = [.willResignActive, .didEnterBackground]
    case .open: names = [.willEnterForeground, .didBecomeActive]
    case .memoryWarning: names = [.didReceiveMemoryWarning]
    case .clockChange: names = [.significantTimeChange]
    case .terminate:
      names = isInForeground ? [.willResignActive, .didEnterBackground, .willTerminate] : [.willTerminate]
    case .nextDay: names = []
    }
    for name in names { center.post(name: name, object: nil) }
    switch action {
    case .launch, .open: isInForeground = true
    case .home, .terminate: isInForeground = false
    case .memoryWarning, .clockChange, .nextDay: break
    }
  }
}
