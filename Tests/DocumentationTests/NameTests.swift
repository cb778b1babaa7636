import Foundation
import Testing

/// The public names at the top level of the libraries, beside those of modules that the same file often imports.
@Suite struct `The public names` {
  /// Types at the top level of modules that a file imports beside ours, as far as a word of this domain could meet them.
  ///
  /// Of Combine, SwiftUI, UIKit, AppKit, Observation, Foundation, Dispatch, os, Swift Testing, XCTest, Logging, Metrics,
  /// Tracing, NIOCore, ServiceLifecycle, ArgumentParser, Hummingbird and Vapor. Not `Application`, which the last two have,
  /// too: *With swift-service-lifecycle* shows the import that chooses one.
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
    "Counter", "Extractor", "FloatingPointCounter", "Gauge", "Injector", "Instrument", "InstrumentationSystem",
    "LegacyTracer", "LogEvent", "LogHandler", "LoggingSystem", "Meter", "MetricsFactory", "MetricsSystem", "NoOpTracer",
    "Recorder", "ServiceContext", "ServiceContextKey", "Span", "SpanAttribute", "SpanAttributes", "SpanEvent",
    "SpanKind", "SpanLink", "SpanStatus", "TimeUnit", "Tracer", "TracerInstant",
    // NIOCore, ServiceLifecycle
    "ByteBuffer", "Channel", "ChannelHandler", "CircularBuffer", "EventLoop", "EventLoopFuture", "EventLoopGroup",
    "EventLoopPromise", "Heap", "MarkedCircularBuffer", "Priority", "RepeatedTask", "Scheduled", "Server", "Service",
    "ServiceConfiguration", "ServiceGroup", "ServiceGroupConfiguration", "ServiceGroupError", "ServiceRunner",
    "SocketAddress", "System", "TimeAmount", "Topic", "UnixSignal",
    // ArgumentParser
    "Argument", "ArgumentHelp", "AsyncParsableCommand", "CommandConfiguration", "CompletionKind", "ExitCode",
    "ExpressibleByArgument", "Flag", "NameSpecification", "Option", "OptionGroup", "ParsableArguments",
    "ParsableCommand", "ValidationError",
    // Hummingbird, Vapor
    "ApplicationProtocol", "Abort", "AsyncResponder", "ClientMiddleware", "Content", "Cookies", "HTTPError",
    "Middleware", "Request", "RequestContext", "Response", "ResponseBody", "Route", "Router", "Routes", "Session",
    "URI", "Validations",
  ]

  /// Modules that a file imports beside ours.
  private static let modules: Set<String> = [
    "Algorithms", "AppKit", "ArgumentParser", "AsyncAlgorithms", "Atomics", "Collections", "Combine", "CoreMetrics",
    "Crypto", "Dispatch", "Distributed", "Foundation", "Hummingbird", "Instrumentation", "Logging", "Metrics", "NIO",
    "NIOCore", "NIOPosix", "Numerics", "Observation", "Prometheus", "ServiceContextModule", "ServiceLifecycle",
    "SwiftUI", "Synchronization", "System", "SystemPackage", "Testing", "Tracing", "UIKit", "UnixSignals", "Vapor",
    "XCTest", "os",
  ]

  private static let libraries = [
    "PubSub", "AppLifecycle", "UnixHost", "LifecycleJournal", "NotificationCenterBridge", "SavedState",
    "AppLifecycleTesting", "UnixHostTesting", "AppLifecycleTestSupport",
  ]

  /// The name that a line declares in public: at the top level or, with `nested`, also inside a type.
  private static func name(in line: Substring, nested: Bool = false) -> Substring? {
    let line = nested ? line.drop { $0 == " " } : line
    let words = line.split(separator: " ").filter { !$0.hasPrefix("@") && $0 != "final" && $0 != "indirect" }
    let kinds = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    guard line.first != " ", words.count > 2, words[0] == "public", kinds.contains(String(words[1])) else { return nil }
    return words[2].prefix { $0.isLetter || $0.isNumber }
  }

  private static func names(of library: String, nested: Bool = false) throws -> Set<String> {
    let folder = Documentation.root.appending(path: "Sources/\(library)")
    let files = (FileManager.default.enumerator(atPath: folder.path())?.compactMap { $0 as? String } ?? [])
      .filter { $0.hasSuffix(".swift") }
    var found: Set<String> = []
    for file in files {
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      found.formUnion(text.split(separator: "\n").compactMap { Self.name(in: $0, nested: nested) }.map(String.init))
    }
    return found
  }

  @Test(arguments: libraries) func `are none that another module has`(library: String) throws {
    let found = try Self.names(of: library)
    #expect(!found.isEmpty)
    #expect(found.intersection(Self.taken).isEmpty)
  }

  /// In an extension of a type, the name of a nested type hides a module of that name.
  @Test(arguments: libraries) func `are no module's, not even inside a type`(library: String) throws {
    #expect(try Self.names(of: library, nested: true).intersection(Self.modules).isEmpty)
  }

  @Test func `are found where the declaration has attributes, and only on demand inside a type`() {
    #expect(Self.name(in: "@MainActor public final class Scene: Sendable {") == "Scene")
    #expect(Self.name(in: "public typealias Event<E> = Wrapper<E>") == "Event")
    #expect(Self.name(in: "  public struct Subscription {") == nil)
    #expect(Self.name(in: "  public struct Subscription {", nested: true) == "Subscription")
    #expect(Self.name(in: "extension EventBus {") == nil)
  }
}
