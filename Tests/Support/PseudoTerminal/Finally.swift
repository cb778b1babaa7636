/// Runs `body`, and `cleanUp` afterwards, also when the body throws.
package func running<Result>(
  _ body: () async throws -> Result, finally cleanUp: () async throws -> Void
) async throws -> Result {
  let result: Result
  do {
    result = try await body()
  } catch {
    try? await cleanUp()
    throw error
  }
  try await cleanUp()
  return result
}
