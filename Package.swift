// swift-tools-version: 6.2
import PackageDescription

// libsigc++ is measured where its headers are named: they lie outside of the compiler's own path (Docs/Performance.md).
let measuresSigc = Context.environment["CPLUS_INCLUDE_PATH"]?.contains("sigc++-2.0") == true

// Where a test decides which thread goes on next: nothing of that is in a release (Docs/Verification.md).
let hooksAreBuilt = BuildSettingCondition.when(configuration: .debug)

let package = Package(
  name: "swift-app-lifecycle",
  // Not watchOS: its processors have pointers of 32 bits, for which nothing here has been built.
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
  products: [
    .library(name: "PubSub", targets: ["PubSub"]),
    .library(name: "AppLifecycle", targets: ["AppLifecycle"]),
    .library(name: "AppLifecycleTesting", targets: ["AppLifecycleTesting"]),
    .library(name: "AppLifecycleTestSupport", targets: ["AppLifecycleTestSupport"]),
    .library(name: "UnixHost", targets: ["UnixHost"]),
    .library(name: "UnixHostTesting", targets: ["UnixHostTesting"]),
    .library(name: "LifecycleJournal", targets: ["LifecycleJournal"]),
    .library(name: "SavedState", targets: ["SavedState"]),
    .library(name: "EventLink", targets: ["EventLink"]),
    .library(name: "NotificationCenterBridge", targets: ["NotificationCenterBridge"]),
    .executable(name: "lifecycle", targets: ["lifecycle"]),
  ],
  // Off unless a dependent or the command line asks for them. With Logind a program delays the machine's sleep; SDL needs libsdl2-dev.
  traits: [
    .trait(name: "Logind", description: "Sleep, shutdown and session lock by logind (Linux)"),
    .trait(name: "MQTT", description: "Links over brokers of MQTT; it needs libmosquitto-dev"),
    .trait(name: "SDL", description: "The example PausingGame in windows of SDL 2 (Linux)"),
  ],
  targets: [
    // The library. Arrows point one way: AppLifecycle → PubSub → Scheduling; everything else → AppLifecycle.
    // The system's C library, under one name.
    .target(name: "LibC"),
    .target(name: "CScheduling"),
    // Locks, clocks, deadlines and tasks, for all of them.
    .target(name: "Scheduling", dependencies: ["CScheduling"]),
    .target(name: "CPubSub", cSettings: [.define("PUBSUB_HOOKS", hooksAreBuilt)]),
    .target(
      name: "PubSub", dependencies: ["CPubSub", "Scheduling"],
      swiftSettings: [.define("PUBSUB_HOOKS", hooksAreBuilt)]),
    .target(name: "AppLifecycle", dependencies: ["PubSub", "Scheduling"]),
    .target(name: "CSimulation"),
    .target(name: "AppLifecycleTesting", dependencies: ["AppLifecycle", "CSimulation", "PubSub", "Scheduling"]),
    // For tests: it links Swift Testing, which no program may.
    .target(
      name: "AppLifecycleTestSupport", dependencies: ["AppLifecycle", "AppLifecycleTesting", "PubSub", "Scheduling"]),
    .target(name: "CUnixHost"),
    .target(
      name: "UnixHost",
      dependencies: [
        "AppLifecycle", "LibC", "PubSub", "Scheduling", "CUnixHost",
        .target(name: "CSystemBus", condition: .when(platforms: [.linux], traits: ["Logind"])),
      ]),
    // What a terminal shows after some bytes; for terminals of tests, recorded and real.
    .target(name: "TerminalEmulation"),
    .target(
      name: "UnixHostTesting", dependencies: ["AppLifecycle", "PubSub", "Scheduling", "TerminalEmulation", "UnixHost"]),
    .target(
      name: "CSystemBus", cSettings: [.define("LOGIND", .when(platforms: [.linux], traits: ["Logind"]))]),
    .target(name: "CLifecycleJournal"),
    .target(
      name: "LifecycleJournal", dependencies: ["AppLifecycle", "CLifecycleJournal", "LibC", "PubSub", "Scheduling"]),
    // State that survives the process. It links FoundationEssentials, for its coder.
    .target(
      name: "SavedState", dependencies: ["AppLifecycle", "JSONReading", "LifecycleJournal", "PubSub", "Scheduling"]),
    // Decodes JSON that may be damaged, and encodes what it can decode.
    .target(name: "JSONReading", dependencies: ["LibC"]),
    // The same events in other processes, over a broker.
    .target(
      name: "EventLink",
      dependencies: [
        "AppLifecycle", "JSONReading", "LibC", "PubSub", "Scheduling",
        .target(name: "CMosquitto", condition: .when(traits: ["MQTT"])),
      ]),
    .target(
      name: "CMosquitto", dependencies: ["CScheduling"], cSettings: [.define("MQTT", .when(traits: ["MQTT"]))],
      linkerSettings: [.linkedLibrary("mosquitto", .when(traits: ["MQTT"]))]),
    // The one library that links all of Foundation. A program that contains it runs Foundation's run loop (MainLoop).
    .target(
      name: "NotificationCenterBridge", dependencies: ["AppLifecycle", "CScheduling", "LibC", "PubSub", "Scheduling"]),
    .executableTarget(
      name: "lifecycle",
      dependencies: [
        "AppLifecycle", "AppLifecycleTesting", "LibC", "LifecycleJournal", "PubSub", "Scheduling", "UnixHost",
        .target(name: "EventLink", condition: .when(traits: ["MQTT"])),
      ]),

    // The examples use products only, as a package that depends on this one would. What several of them need beside the library
    // (sockets, lines of a screen) is in ExampleSupport.
    .target(name: "ExampleSupport", dependencies: ["UnixHost"], path: "Examples/Support"),
    .executableTarget(
      name: "Quickstart",
      dependencies: ["AppLifecycle", "PubSub", "UnixHost"],
      path: "Examples/Quickstart"),
    // A view model of UIKit, unchanged, in a terminal.
    .executableTarget(
      name: "DueDate",
      dependencies: ["AppLifecycle", "NotificationCenterBridge", "PubSub", "UnixHost"],
      path: "Examples/DueDate"),
    .executableTarget(
      name: "LifecycleRecorder",
      dependencies: ["AppLifecycle", "AppLifecycleTesting", "ExampleSupport", "PubSub", "UnixHost"],
      path: "Examples/LifecycleRecorder"),
    .executableTarget(
      name: "PregTracker",
      dependencies: [
        "AppLifecycle", "AppLifecycleTesting", "ExampleSupport", "LifecycleJournal", "PubSub", "SavedState",
        "UnixHost",
      ],
      path: "Examples/PregTracker"),
    .executableTarget(
      name: "ConnectionManager",
      dependencies: ["AppLifecycle", "ExampleSupport", "PubSub", "UnixHost"],
      path: "Examples/ConnectionManager"),
    // Several processes over a broker; it needs the trait MQTT to do more than say so.
    .executableTarget(
      name: "Fleet", dependencies: ["AppLifecycle", "EventLink", "ExampleSupport", "PubSub", "UnixHost"],
      path: "Examples/Fleet"),
    .executableTarget(
      name: "Service",
      dependencies: ["AppLifecycle", "LifecycleJournal", "PubSub", "UnixHost"],
      path: "Examples/Service"),
    .executableTarget(
      name: "PausingGame",
      dependencies: [
        "AppLifecycle", "ExampleSupport", "PubSub", "SavedState", "UnixHost",
        .target(name: "CSDL", condition: .when(platforms: [.linux], traits: ["SDL"])),
      ],
      path: "Examples/PausingGame", exclude: ["CSDL"]),
    .systemLibrary(name: "CSDL", path: "Examples/PausingGame/CSDL"),

    // Real programs for the tests to drive under a pseudo-terminal, and as a service. Each is built twice: without Foundation, which a
    // test proves, and linked with the bridge, whose run loop it then runs on.
    .target(
      name: "TerminalProbeProgram",
      dependencies: ["AppLifecycle", "CPseudoTerminal", "CUnixHost", "ProbeSupport", "PubSub", "UnixHost"],
      path: "Tests/Support/TerminalProbe/Program"),
    .executableTarget(
      name: "TerminalProbe", dependencies: ["TerminalProbeProgram"], path: "Tests/Support/TerminalProbe/Main"),
    .executableTarget(
      name: "FoundationTerminalProbe",
      dependencies: ["NotificationCenterBridge", "ProbeSupport", "TerminalProbeProgram"],
      path: "Tests/Support/TerminalProbe/FoundationMain"),
    .target(
      name: "ServiceProbeProgram",
      dependencies: ["AppLifecycle", "ProbeSupport", "PubSub", "ResourceScenarios", "UnixHost"],
      path: "Tests/Support/ServiceProbe/Program"),
    .executableTarget(
      name: "ServiceProbe", dependencies: ["ServiceProbeProgram"], path: "Tests/Support/ServiceProbe/Main"),
    .executableTarget(
      name: "FoundationServiceProbe", dependencies: ["NotificationCenterBridge", "ServiceProbeProgram"],
      path: "Tests/Support/ServiceProbe/FoundationMain"),
    // Its component knows the notification center alone, as those of iOS do.
    .executableTarget(
      name: "ObserverProbe",
      dependencies: ["AppLifecycle", "NotificationCenterBridge", "ProbeSupport", "UnixHost"],
      path: "Tests/Support/ObserverProbe"),
    // The server of the article on services, with sockets of the loopback.
    .executableTarget(
      name: "LineServerProbe", dependencies: ["AppLifecycle", "NIOCoreStandIn", "ProbeSupport", "UnixHost"],
      path: "Tests/Support/LineServerProbe"),
    // What resources do on the simulator and on a real host alike.
    .target(name: "ResourceScenarios", dependencies: ["AppLifecycle"], path: "Tests/Support/ResourceScenarios"),
    .target(name: "ProbeSupport", dependencies: ["AppLifecycle", "PubSub"], path: "Tests/Support/ProbeSupport"),
    // What a program that journals does until it is killed, for the program and for the test that knows what it must have done.
    .target(
      name: "JournalWorkload", dependencies: ["AppLifecycle", "PubSub", "Scheduling"],
      path: "Tests/Support/JournalWorkload"),
    .executableTarget(
      name: "JournalProbe",
      dependencies: ["AppLifecycle", "JournalWorkload", "LifecycleJournal", "PubSub"],
      path: "Tests/Support/JournalProbe"),
    .executableTarget(
      name: "SavedStateProbe", dependencies: ["AppLifecycle", "LifecycleJournal", "PubSub", "SavedState"],
      path: "Tests/Support/SavedStateProbe"),
    // Processes that post to one another over a broker, and count what comes.
    .target(name: "LinkWorkload", dependencies: ["PubSub", "Scheduling"], path: "Tests/Support/LinkWorkload"),
    .executableTarget(
      name: "LinkProbe",
      dependencies: ["AppLifecycle", "EventLink", "LinkWorkload", "PubSub", "Scheduling", "UnixHost"],
      path: "Tests/Support/LinkProbe"),
    .target(name: "CPseudoTerminal", path: "Tests/Support/CPseudoTerminal"),
    .target(name: "CSystemCalls", path: "Tests/Support/CSystemCalls"),
    .target(
      name: "PseudoTerminal", dependencies: ["CPseudoTerminal", "TerminalEmulation"],
      path: "Tests/Support/PseudoTerminal"),
    // Files of tests, whose calls may fail.
    .target(name: "TestFiles", dependencies: ["LifecycleJournal", "Scheduling"], path: "Tests/Support/TestFiles"),
    .target(name: "TestTraits", path: "Tests/Support/TestTraits"),
    // What the adapters of the documentation are compiled against, in the place of libraries that this package does not use.
    .target(name: "LoggingStandIn", dependencies: ["PubSub", "Scheduling"], path: "Tests/Support/StandIns/Logging"),
    .target(name: "MetricsStandIn", dependencies: ["PubSub", "Scheduling"], path: "Tests/Support/StandIns/Metrics"),
    .target(
      name: "ServiceLifecycleStandIn", dependencies: ["LoggingStandIn", "Scheduling"],
      path: "Tests/Support/StandIns/ServiceLifecycle"),
    .target(name: "ArgumentParserStandIn", path: "Tests/Support/StandIns/ArgumentParser"),
    .target(name: "HummingbirdStandIn", path: "Tests/Support/StandIns/Hummingbird"),
    .target(name: "NIOCoreStandIn", dependencies: ["Scheduling"], path: "Tests/Support/StandIns/NIOCore"),
    .target(name: "TracingStandIn", dependencies: ["PubSub", "Scheduling"], path: "Tests/Support/StandIns/Tracing"),
    // UIKit, for components of iOS, which a test plays by hand. Its name is another one, as code asks whether UIKit is there.
    .target(name: "UIKitStandIn", dependencies: ["Scheduling"], path: "Tests/Support/StandIns/UIKit"),
    .target(name: "ProgramOptions", path: "Tests/Support/ProgramOptions"),

    // `swift run -c release Benchmarks`: the bus against a floor, Foundation and the signal
    // libraries that are installed; the life cycle against its bounds.
    .executableTarget(
      name: "Benchmarks",
      dependencies: [
        "AppLifecycle", "BenchmarkHarness", "CBenchmarks", "CPeers", "LifecycleJournal", "NotificationCenterBridge",
        "PubSub", "SavedState", "Scheduling",
        "UnixHost",
      ],
      path: "Tests/Benchmarks/Program"),
    .target(name: "BenchmarkHarness", path: "Tests/Benchmarks/Harness"),
    // `swift run -c release --traits MQTT LinkBenchmarks`: a link against a plain program with libmosquitto, over one broker.
    .executableTarget(
      name: "LinkBenchmarks",
      dependencies: [
        "AppLifecycle", "BenchmarkHarness", "CLinkFloor", "EventLink", "PseudoTerminal", "PubSub",
        "Scheduling",
      ],
      path: "Tests/Benchmarks/LinkProgram"),
    .target(
      name: "CLinkFloor", path: "Tests/Benchmarks/CLinkFloor",
      cSettings: [.define("MQTT", .when(traits: ["MQTT"])), .define("_GNU_SOURCE")],
      linkerSettings: [.linkedLibrary("mosquitto", .when(traits: ["MQTT"]))]),
    .target(name: "CBenchmarks", path: "Tests/Benchmarks/CBenchmarks"),
    .target(
      name: "CPeers", dependencies: ["CBenchmarks"], path: "Tests/Benchmarks/CPeers",
      cxxSettings: measuresSigc ? [.define("MEASURES_SIGC")] : [],
      linkerSettings: measuresSigc ? [.linkedLibrary("sigc-2.0")] : []),

    // `swift run -c release Stress --seconds 3600`: threads that do everything at random, with every delivery accounted for.
    .executableTarget(
      name: "Stress", dependencies: ["CBenchmarks", "ProgramOptions", "PubSub", "Scheduling", "StressEngine"],
      path: "Tests/Stress/Program"),
    .target(name: "StressEngine", dependencies: ["PubSub", "Scheduling"], path: "Tests/Stress/Engine"),

    // `swift run Attack --seconds 3600`: programs of this package in terminals, with everything done to them at random.
    .executableTarget(
      name: "Attack",
      dependencies: [
        "AttackCore", "PregTracker", "ProgramOptions", "PseudoTerminal", "Quickstart", "Service", "TerminalProbe",
        "lifecycle",
      ],
      path: "Tests/Attack/Program"),
    .target(name: "AttackCore", dependencies: ["PseudoTerminal", "PubSub", "Scheduling"], path: "Tests/Attack/Core"),
    .testTarget(name: "AttackTests", dependencies: ["AttackCore", "PseudoTerminal"]),

    // Readers of foreign bytes, for tests and for the fuzzer.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "AppLifecycle", "AppLifecycleTesting", "JSONReading", "LifecycleJournal", "SavedState", "TerminalEmulation",
        "UnixHost",
      ],
      path: "Tests/Fuzz/Targets"),
    .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets", "PubSub", "Scheduling", "TestTraits"]),

    .testTarget(name: "BenchmarksTests", dependencies: ["BenchmarkHarness"]),
    .testTarget(
      name: "PubSubTests",
      dependencies: [
        "AppLifecycleTesting", "CPubSub", "CSystemCalls", "PubSub", "Scheduling", "StressEngine", "TestTraits",
      ],
      swiftSettings: [.define("PUBSUB_HOOKS", hooksAreBuilt)]),
    .testTarget(
      name: "AppLifecycleTests",
      dependencies: [
        "AppLifecycle", "AppLifecycleTesting", "CSystemCalls", "NIOCoreStandIn", "PubSub", "Scheduling",
        "ResourceScenarios", "TestTraits",
      ]),
    .testTarget(
      name: "AppLifecycleTestingTests",
      dependencies: [
        "AppLifecycle", "AppLifecycleTesting", "JournalWorkload", "LifecycleJournal", "PubSub", "Scheduling",
        "lifecycle",
        "PseudoTerminal", "TestFiles", "TestTraits",
      ]),
    .testTarget(
      name: "AppLifecycleTestSupportTests",
      dependencies: [
        "AppLifecycle", "AppLifecycleTestSupport", "AppLifecycleTesting", "PubSub", "Scheduling", "TestTraits",
      ]),
    // One file of client code, compiled as clients may: in plain Swift 6, with what is to come, on the main actor by default.
    .testTarget(
      name: "UsageTests",
      dependencies: ["AppLifecycle", "AppLifecycleTesting", "PubSub"],
      path: "Tests/Usage/Plain"),
    .testTarget(name: "UsageUpcomingTests", dependencies: ["AppLifecycle", "PubSub"], path: "Tests/Usage/Upcoming"),
    .testTarget(
      name: "UsageMainActorTests",
      dependencies: ["AppLifecycle", "PubSub"],
      path: "Tests/Usage/MainActor",
      swiftSettings: [.defaultIsolation(MainActor.self)]),
    .testTarget(
      name: "LifecycleJournalTests",
      dependencies: [
        "AppLifecycle", "AppLifecycleTesting", "JournalProbe", "JournalWorkload", "LifecycleJournal", "PubSub",
        "Scheduling",
        "TestFiles", "TestTraits",
      ],
      exclude: ["Damaged"]),
    .testTarget(
      name: "SavedStateTests",
      dependencies: [
        "AppLifecycle", "AppLifecycleTestSupport", "AppLifecycleTesting", "LifecycleJournal", "PubSub", "SavedState",
        "SavedStateProbe", "Scheduling", "TestFiles", "TestTraits",
      ]),
    .testTarget(
      name: "EventLinkTests",
      dependencies: [
        "AppLifecycle", "AppLifecycleTesting", "EventLink", "Fleet", "JSONReading", "LinkProbe", "LinkWorkload",
        "PseudoTerminal", "PubSub", "Scheduling", "TestTraits", "lifecycle",
      ]),
    .testTarget(
      name: "NotificationCenterBridgeTests",
      dependencies: [
        "AppLifecycle", "AppLifecycleTesting", "CBenchmarks", "NotificationCenterBridge", "PubSub", "Scheduling",
        "UIKitStandIn",
      ]),
    // Components of iOS, each one file that compiles on the bridge's names and on the stand-in's, in the language mode of such libraries.
    .target(
      name: "Components", dependencies: ["NotificationCenterBridge"], path: "Tests/Components/Files",
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(
      name: "ComponentsOnStandIn", dependencies: ["UIKitStandIn"], path: "Tests/Components/OnStandIn",
      swiftSettings: [.swiftLanguageMode(.v5), .define("UIKIT_STAND_IN")]),
    .executableTarget(
      name: "ComponentProbe",
      dependencies: ["AppLifecycle", "Components", "NotificationCenterBridge", "PubSub", "Scheduling", "UnixHost"],
      path: "Tests/Components/Program"),
    .testTarget(
      name: "ComponentTests",
      dependencies: [
        "AppLifecycle", "AppLifecycleTesting", "ComponentProbe", "Components", "ComponentsOnStandIn",
        "NotificationCenterBridge", "PseudoTerminal", "PubSub", "Scheduling", "TestTraits", "UIKitStandIn",
      ]),
    .testTarget(
      name: "UnixHostTests",
      dependencies: [
        "AppLifecycle", "AppLifecycleTesting", "FoundationServiceProbe", "FoundationTerminalProbe", "JournalProbe",
        "LineServerProbe", "ObserverProbe", "PubSub", "Scheduling", "UnixHost", "CUnixHost", "PseudoTerminal",
        "ResourceScenarios",
        "SavedStateProbe", "ServiceProbe", "TerminalProbe", "TestTraits", "UnixHostTesting",
      ]),
    .testTarget(
      name: "ExampleTests",
      dependencies: [
        "AppLifecycle", "AppLifecycleTesting", "ConnectionManager", "DueDate", "ExampleSupport",
        "LifecycleJournal", "LifecycleRecorder", "PregTracker", "PseudoTerminal", "PubSub", "SavedState", "Scheduling",
        "Quickstart", "Service",
        "TestTraits", "UnixHost", "UnixHostTesting",
        "lifecycle",
      ]),
    .testTarget(
      name: "ConnectionManagerTests",
      dependencies: [
        "AppLifecycle", "AppLifecycleTestSupport", "AppLifecycleTesting", "ConnectionManager", "ExampleSupport",
        "PubSub", "TestTraits",
      ]),
    // What the compiler says about mistakes: it compiles the snippets, and the build does not.
    .testTarget(
      name: "DiagnosticsTests",
      dependencies: [
        "AppLifecycle", "NotificationCenterBridge", "PseudoTerminal", "PubSub", "TestTraits", "UnixHost",
      ], exclude: ["Snippets"]),
    .testTarget(
      name: "PausingGameTests",
      dependencies: [
        "AppLifecycle", "AppLifecycleTesting", "LifecycleJournal", "PausingGame", "PseudoTerminal", "PubSub",
        "TestTraits",
        "UnixHost",
      ]),
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "AppLifecycle", "AppLifecycleTestSupport", "AppLifecycleTesting", "ArgumentParserStandIn", "EventLink",
        "HummingbirdStandIn", "LifecycleJournal", "LoggingStandIn", "MetricsStandIn", "PubSub", "SavedState",
        "Scheduling", "ServiceLifecycleStandIn", "TestTraits", "TracingStandIn", "UnixHost", "UnixHostTesting",
        "lifecycle",
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// Every Swift target is held to the same rules; a warning is an error where CI says so.
let upcomingFeatures: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]
let warnings: [SwiftSetting] = Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)]
for target in package.targets where !target.name.hasPrefix("C") {
  let features = ["UsageTests", "Components", "ComponentsOnStandIn"].contains(target.name) ? [] : upcomingFeatures
  target.swiftSettings = (target.swiftSettings ?? []) + features + warnings
}

// PUBSUB_PORTABLE=1 builds the bus without what depends on the compiler's conventions, as it is built where those are not known.
if Context.environment["PUBSUB_PORTABLE"] != nil {
  for target in package.targets where !target.name.hasPrefix("C") {
    target.swiftSettings = (target.swiftSettings ?? []) + [.define("PUBSUB_PORTABLE")]
  }
}

// FUZZ=1 adds the fuzzer, and the instrumentation that guides it; `.ci/fuzz` builds and runs it (Docs/Verification.md).
// The linker is lld: gold fails with an internal error on the sections of the instrumentation.
if Context.environment["FUZZ"] != nil {
  package.targets += [
    .target(name: "CFuzz", path: "Tests/Fuzz/CFuzz"),
    .executableTarget(
      name: "Fuzz", dependencies: ["CFuzz", "FuzzTargets"], path: "Tests/Fuzz/Program",
      linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]),
  ]
  let fuzzed = [
    "AppLifecycle", "AppLifecycleTesting", "JSONReading", "LifecycleJournal", "SavedState", "TerminalEmulation",
    "UnixHost", "FuzzTargets",
  ]
  for target in package.targets where fuzzed.contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-sanitize=fuzzer"])]
  }
}

// TEST_TARGETS="PubSubTests ExampleTests" leaves out the other test targets, and everything that these do not need.
if let chosen = Context.environment["TEST_TARGETS"]?.split(separator: " ").map(String.init) {
  var kept: Set<String> = []
  var next = chosen
  while let name = next.popLast() {
    guard kept.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else { continue }
    next += target.dependencies.compactMap { dependency in
      switch dependency {
      case .byNameItem(let name, _), .targetItem(let name, _): name
      default: nil
      }
    }
  }
  package.targets.removeAll { !kept.contains($0.name) }
  package.products.removeAll { product in
    let targets = (product as? Product.Library)?.targets ?? (product as? Product.Executable)?.targets ?? []
    return !targets.allSatisfy(kept.contains)
  }
}
