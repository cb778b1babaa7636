// A module that also has an `Application`, as Hummingbird 2 and Vapor 4 do, for the import that chooses one of them.

/// Another application than that of this package.
package struct Application: Sendable {
  package init() {}
}
