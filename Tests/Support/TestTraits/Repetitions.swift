import Foundation

/// How often a test repeats what has to be the same each time: `REPETITIONS` in the environment, else the test's own number.
public func repetitions(default number: Int) -> Int {
  max(1, ProcessInfo.processInfo.environment["REPETITIONS"].flatMap { Int($0) } ?? number)
}
