import CFuzz
import FuzzTargets

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// libFuzzer with the target that `$FUZZ_TARGET` names; `.ci/fuzz` builds and runs it.
///
/// The target is not an argument, because libFuzzer starts itself again with its own arguments alone.
@main enum Fuzz {
  static let target = getenv("FUZZ_TARGET").flatMap { FuzzTarget(rawValue: String(cString: $0)) }

  static func main() {
    guard target != nil else {
      print("FUZZ_TARGET is one of \(FuzzTarget.allCases.map(\.rawValue))")
      exit(64)
    }
    let status = fuzz_run(CommandLine.argc, CommandLine.unsafeArgv) { bytes, count in
      do {
        try Fuzz.target?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
      } catch {
        fatalError("\(error)")
      }
      return 0
    }
    exit(status)
  }
}
