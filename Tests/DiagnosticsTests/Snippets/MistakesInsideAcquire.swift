import AppLifecycle

struct Database: Sendable {}

struct Feed: Sendable {
  init(for database: Database) async throws {}
  func close() async {}
}

@MainActor func hold(_ application: Application, _ database: ManagedResource<Database>) throws {
  #if CURED
    try application.manage("label", while: .foreground, after: database) { database in
      try await Feed(for: database)
    } release: {
      await $0.close()
    }
  #else
    // What is wrong inside a body is reported there: the overloads that explain a wrong number of parameters are not in the way.
    try application.manage("label", while: .foreground, after: database) { database in
      // expect error: incorrect argument label in call (have 'of:', expected 'for:')
      try await Feed(of: database)
    }
    try application.manage("member", while: .foreground, after: database) { database in
      try await Feed(for: database)
    } release: {
      // expect error: value of type … has no member 'shut'
      await $0.shut()
    }
    // expect error: type 'LifecyclePhase' has no member 'forground'
    try application.manage("phase", while: .forground, after: database) { database in
      try await Feed(for: database)
    }
    try application.manage("name", while: .foreground, after: database) { database in
      let feed = try await Feed(for: database)
      // expect error: cannot find 'feeed' in scope
      print(feeed)
      return feed
    }
  #endif
}
