import AppLifecycle

struct Database: Sendable {}

struct Feed: Sendable {
  init(for database: Database? = nil) async throws {}
  func close() async {}
}

@MainActor func hold(_ application: Application, _ database: ManagedResource<Database>) throws {
  #if CURED
    try application.manage("forgotten", while: .foreground, after: database) { database in
      try await Feed(for: database)
    } release: {
      await $0.close()
    }
    try application.manage("unused", while: .foreground) { try await Feed() }
    try application.manage("second", while: .foreground, after: database) { database in
      let feed = try await Feed(for: database)
      return feed
    }
  #else
    // expect error: 'manage(…)' is unavailable: 'acquire' takes one parameter for each resource in 'after:', in the same order: pass the missing resource in 'after:', or drop the parameter
    try application.manage("forgotten", while: .foreground) { database in
      try await Feed(for: database)
    } release: {
      await $0.close()
    }
    // expect error: 'manage(…)' is unavailable: 'acquire' takes one parameter for each resource in 'after:', in the same order: pass the missing resource in 'after:', or drop the parameter
    try application.manage("unused", while: .foreground) { _ in try await Feed() }
    // expect error: 'manage(…)' is unavailable: 'acquire' takes one parameter for each resource in 'after:', in the same order: pass the missing resource in 'after:', or drop the parameter
    try application.manage("second", while: .foreground, after: database) { database, cache in
      let feed = try await Feed(for: database)
      return feed
    }
  #endif
}
