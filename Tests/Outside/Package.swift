// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as any user could write it: a host, an exporter, a logger and a terminal view, each with its test, on the
// products of swift-app-lifecycle alone. That it builds shows that nothing of them needs what only the package itself has.

let lifecycle = "swift-app-lifecycle"

let package = Package(
  name: "Outside",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: lifecycle, path: "../..")],
  targets: [
    .target(
      name: "OutsideKit",
      dependencies: ["AppLifecycle", "PubSub", "UnixHost"].map {
        .product(name: $0, package: lifecycle)
      }),
    .executableTarget(
      name: "OutsideGame",
      dependencies: ["OutsideKit"]
        + ["AppLifecycle", "PubSub", "UnixHost"].map { .product(name: $0, package: lifecycle) }),
    .testTarget(
      name: "OutsideTests",
      dependencies: ["OutsideGame", "OutsideKit"]
        + [
          "AppLifecycle", "AppLifecycleTesting", "AppLifecycleTestSupport", "PubSub", "UnixHost",
          "UnixHostTesting",
        ]
        .map { .product(name: $0, package: lifecycle) }),
  ],
  swiftLanguageModes: [.v6]
)
