import AppLifecycle

struct Feed: Sendable {
  init() async throws {}
}

@MainActor func hold(_ application: Application) throws {
  #if CURED
    try application.manage("feed", while: .foreground) {
      try await Feed()
    } release: { _ in
      print("released")
    }
  #else
    try application.manage("feed", while: .foreground) {
      // expect warning: result of … initializer is unused
      try await Feed()
    } release: {
      print("released")
    }
  #endif
}
