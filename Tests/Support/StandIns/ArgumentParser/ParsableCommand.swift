// As much of swift-argument-parser's `ArgumentParser` as the documentation's listings use: names, labels, isolation and results as in
// swift-argument-parser 1.8.2, of which they were read. Not the library: it parses nothing, so each argument has its default value.

package protocol ParsableArguments: Decodable, SendableMetatype {
  init()
}

/// A program's command, whose properties are its arguments.
package protocol ParsableCommand: ParsableArguments {
  mutating func run() throws
}

/// The text of an argument in the help.
package struct ArgumentHelp: ExpressibleByStringInterpolation, Sendable {
  package init(stringLiteral value: String) {}
}

/// How an argument is written.
package struct NameSpecification: Sendable {
  package static var long: NameSpecification { NameSpecification() }
  package static var short: NameSpecification { NameSpecification() }
  package static var shortAndLong: NameSpecification { NameSpecification() }
}

/// An argument that is there or is not: `--patient`.
@propertyWrapper
package struct Flag<Value: Decodable>: Decodable {
  package var wrappedValue: Value

  package init(from decoder: any Decoder) throws { wrappedValue = try Value(from: decoder) }
}

extension Flag: Sendable where Value: Sendable {}

extension Flag where Value == Bool {
  package init(wrappedValue: Bool, name: NameSpecification = .long, help: ArgumentHelp? = nil) {
    self.wrappedValue = wrappedValue
  }
}
