import Foundation
import PseudoTerminal
import Testing

/// The compiler of the toolchain whose libraries these tests run with, and the modules of the build to which they belong.
enum Compiler {
  /// The compiler's path; nil if there is none beside the library of the language, nor in PATH.
  static let path: String? = {
    // …/usr/lib/swift/linux/libswiftCore.so belongs to …/usr/bin/swiftc.
    let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
    let library = maps.split(separator: "\n").lazy.compactMap { line in
      line.firstIndex(of: "/").map { String(line[$0...]) }
    }.first { $0.hasSuffix("/libswiftCore.so") }
    if let library, let range = library.range(of: "/lib/swift/") {
      let beside = library[..<range.lowerBound] + "/bin/swiftc"
      if FileManager.default.isExecutableFile(atPath: String(beside)) { return String(beside) }
    }
    return installedProgram("swiftc")
  }()

  /// What the compiler says about a snippet, errors and warnings; notes are not among them.
  static func diagnostics(of snippet: Snippet, isCured: Bool) async throws -> [Diagnostic] {
    var arguments = [try #require(path), "-emit-sil", "-o", "/dev/null", "-parse-as-library"]
    arguments += ["-swift-version", snippet.languageMode]
    arguments += ["-module-name", "Snippet", "-diagnostic-style", "llvm", "-no-color-diagnostics"]
    arguments += ["-I", builtProduct("Modules"), "-module-cache-path", builtProduct("ModuleCache")]
    // A module of C has no file in Modules: the build makes a map for each.
    for module in ["CScheduling", "CPubSub", "CUnixHost", "CSystemBus"] {
      let map = builtProduct("\(module).build/module.modulemap")
      if FileManager.default.fileExists(atPath: map) { arguments += ["-Xcc", "-fmodule-map-file=\(map)"] }
    }
    if isCured { arguments += ["-D", "CURED"] }
    let finished = try await runProgram(arguments + [snippet.path], within: .seconds(600))
    let said = finished.errors.split(separator: "\n").compactMap { Diagnostic(printed: $0, in: snippet.path) }
    let hasErrors = said.contains { $0.text.hasPrefix("error: ") }
    #expect(finished.ending == .exited(hasErrors ? 1 : 0), "\(finished.errors)")
    return said
  }
}

extension Diagnostic {
  /// Reads `PATH:LINE:COLUMN: error: TEXT [#Group]`; what is not about the file stands at line 0.
  init?(printed: some StringProtocol, in path: String) {
    for severity in ["error", "warning"] {
      guard let range = printed.firstRange(of: ": \(severity): ") else { continue }
      let place = printed[..<range.lowerBound]
      line = 0
      if place.hasPrefix(path + ":") {
        line = place.dropFirst(path.count + 1).split(separator: ":").first.flatMap { Int($0) } ?? 0
      }
      var message = String(printed[range.upperBound...])
      if message.hasSuffix("]"), let group = message.range(of: " [#", options: .backwards) {
        message.removeSubrange(group.lowerBound...)
      }
      text = "\(severity): \(message)"
      return
    }
    return nil
  }
}
