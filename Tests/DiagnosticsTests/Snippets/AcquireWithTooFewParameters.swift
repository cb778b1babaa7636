import AppLifecycle

struct Database: Sendable {}
struct Cache: Sendable {}

struct Feed: Sendable {
  init(for database: Database? = nil) async throws {}
  func close() async {}
}

@MainActor func hold(
  _ application: Application, _ database: ManagedResource<Database>, _ cache: ManagedResource<Cache>
) throws {
  #if CURED
    try application.manage("one", while: .foreground, after: database) { _ in try await Feed() }
    try application.manage("two", while: .foreground, after: database, cache) { database, _ in
      try await Feed(for: database)
    } release: {
      await $0.close()
    }
  #else
    // expect error: 'manage(…)' is unavailable: 'acquire' takes one parameter for each resource in 'after:', in the same order: write '_' for a handle that it does not use
    try application.manage("one", while: .foreground, after: database) { try await Feed() }
    // expect error: pack expansion requires that … and … have the same shape
    try application.manage("two", while: .foreground, after: database, cache) { database in
      try await Feed(for: database)
    } release: {
      await $0.close()
    }
  #endif
}
