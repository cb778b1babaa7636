import Foundation
import Testing

/// The public names at the top level of the libraries, beside those of modules that the same file often imports.
@Suite struct `The public names` {
  /// Types at the top level of modules that a file imports beside ours, as far as a word of this domain could meet them.
  ///
  /// Of Combine, SwiftUI, UIKit, AppKit, Observation, Foundation, Dispatch, os, Swift Testing, XCTest, Logging, Metrics,
  /// Tracing, NIOCore and ServiceLifecycle.
  private static let taken: Set<String> = [
    // Combine
    "AnyCancellable", "AnyPublisher", "AnySubject", "AnySubscriber", "Cancellable", "Completion",
    "ConnectableObservable",
    "Demand", "Deferred", "Empty", "Fail", "Future", "Just", "ObservableObject", "Optional", "PassthroughSubject",
    "Published", "Publisher", "Publishers", "Record", "Scheduler", "Subject", "Subscriber", "Subscribers",
    "Subscription", "Subscriptions", "TopLevelDecoder", "TopLevelEncoder",
    // SwiftUI, UIKit, AppKit
    "Action", "Alert", "Animation", "App", "AppStorage", "BackgroundTask", "Binding", "Button", "Color", "Commands",
    "Environment", "EnvironmentValues", "Event", "FetchRequest", "FocusState", "Form", "Gesture", "Group", "Image",
    "Label", "Link", "List", "Menu", "Namespace", "Notification", "Path", "PreviewProvider", "Scene", "SceneBuilder",
    "ScenePhase", "SceneStorage", "Section", "Settings", "Shape", "State", "StateObject", "Tab", "Task", "Text",
    "Toggle", "Transaction", "Transition", "View", "ViewModifier", "Window", "WindowGroup",
    // Observation, Foundation, Dispatch, os
    "Bundle", "Calendar", "Clock", "Data", "Date", "Duration", "FileHandle", "Host", "Instant", "Locale", "Lock",
    "Logger", "Measurement", "Message", "NotificationCenter", "NotificationQueue", "Observable",
    "ObservationRegistrar", "Observations", "Operation", "OperationQueue", "Pipe", "Port", "Process", "ProcessInfo",
    "Progress", "RunLoop", "Stream", "Thread", "Timer", "Unit", "UserDefaults",
    // Swift Testing, XCTest
    "Attachment", "Bug", "Comment", "Confirmation", "Configuration", "ExitTest", "Issue", "Plan", "Runner",
    "SourceLocation", "Suite", "Tag", "Test", "TestTrait", "Trait",
    // Logging, Metrics, Tracing
    "Counter", "Gauge", "Instrument", "InstrumentationSystem", "LogHandler", "Logging", "LoggingSystem", "Meter",
    "Metrics", "Recorder", "Span", "Tracer", "Tracing",
    // NIOCore, ServiceLifecycle
    "ByteBuffer", "Channel", "ChannelHandler", "CircularBuffer", "EventLoop", "EventLoopFuture", "EventLoopGroup",
    "EventLoopPromise", "Heap", "MarkedCircularBuffer", "Priority", "RepeatedTask", "Scheduled", "Server", "Service",
    "ServiceGroup", "ServiceRunner", "SocketAddress", "System", "TimeAmount", "Topic",
  ]

  private static let libraries = [
    "PubSub", "AppLifecycle", "UnixHost", "LifecycleJournal", "NotificationCenterBridge", "AppLifecycleTesting",
    "UnixHostTesting", "AppLifecycleTestSupport",
  ]

  /// The names that a line declares in public at the top level.
  private static func names(in line: Substring) -> Substring? {
    let words = line.split(separator: " ").filter { !$0.hasPrefix("@") && $0 != "final" && $0 != "indirect" }
    let kinds = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    guard line.first != " ", words.count > 2, words[0] == "public", kinds.contains(String(words[1])) else { return nil }
    return words[2].prefix { $0.isLetter || $0.isNumber }
  }

  @Test(arguments: libraries) func `are none that another module has`(library: String) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Sources/\(library)")
    let files = (FileManager.default.enumerator(atPath: folder.path())?.compactMap { $0 as? String } ?? [])
      .filter { $0.hasSuffix(".swift") }
    var found: Set<String> = []
    for file in files {
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      found.formUnion(text.split(separator: "\n").compactMap { Self.names(in: $0) }.map(String.init))
    }
    #expect(!found.isEmpty)
    #expect(found.intersection(Self.taken).isEmpty)
  }

  @Test func `are found where the declaration has attributes, and not inside a type`() {
    #expect(Self.names(in: "@MainActor public final class Scene: Sendable {") == "Scene")
    #expect(Self.names(in: "public typealias Event<E> = Wrapper<E>") == "Event")
    #expect(Self.names(in: "  public struct Subscription {") == nil)
    #expect(Self.names(in: "extension EventBus {") == nil)
  }
}
