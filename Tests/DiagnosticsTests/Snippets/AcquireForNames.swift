import AppLifecycle

struct Database: Sendable {}

struct Feed: Sendable {
  init(for database: Database? = nil) async throws {}
}

@MainActor func hold(_ application: Application, _ database: ManagedResource<Database>) throws {
  #if CURED
    try application.manage("used", while: .foreground, after: database) { database in try await Feed(for: database) }
    try application.manage("unused", while: .foreground, after: ["database"]) { try await Feed() }
  #else
    // expect error: 'manage(…)' is unavailable: 'acquire' takes no parameter for a resource that 'after:' names by a string: pass what 'manage' returned for it instead of its name
    try application.manage("used", while: .foreground, after: ["database"]) { database in
      try await Feed(for: database)
    }
    // expect error: 'manage(…)' is unavailable: 'acquire' takes no parameter for a resource that 'after:' names by a string: pass what 'manage' returned for it instead of its name
    try application.manage("unused", while: .foreground, after: ["database"]) { database in try await Feed() }
  #endif
}
