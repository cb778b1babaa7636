import AppLifecycle
import AppLifecycleTesting
import Foundation
import NotificationCenterBridge
import Testing

#if !canImport(UIKit)
  @MainActor private final class NoDelegate: ApplicationDelegate {}

  @Suite @MainActor struct `A component that was written for UIKit` {
    private let center = NotificationCenter()

    @Test func `saves its files in a background task of its own queue`() async throws {
      let file = URL.temporaryDirectory.appending(path: "thumbnails-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      let application = Application(delegate: NoDelegate())
      let link = NotificationCenterBridge(application.bus, to: center).postLifecycle()
      let reports = Log()
      let observer = application.observe { event in
        if let record = event.record, record.kind == .report { reports.add(record.name) }
      }
      // Not in a simulation, which cannot run the component's queue.
      let cache = ThumbnailCache(file: file, center: center)
      await application.handle(.launch)
      cache.insert(Data([1]), for: "one")
      // The suspension waits for the background task.
      #expect(await application.suspend().value)
      let saved = try JSONDecoder().decode([String: Data].self, from: Data(contentsOf: file))
      #expect(saved == ["one": Data([1])])
      await application.handle(.open)
      await application.handle(.memoryWarning)
      #expect(cache.count == 0)
      #expect(reports.all.isEmpty, "\(reports.all)")
      observer.cancel()
      link.cancel()
    }

    @Test func `observes with blocks in the place of selectors, until it is released`() async throws {
      let system = SimulatedSystem()
      let link = NotificationCenterBridge(system.bus, to: center).postLifecycle()
      var log: SessionLog? = SessionLog(center)
      try await system.play("launch; home; open")
      #expect(log?.lines == ["begin", "end", "begin"])
      weak let released = log
      log = nil
      try await system.play("home")
      #expect(released == nil)
      link.cancel()
    }
  }
#endif
