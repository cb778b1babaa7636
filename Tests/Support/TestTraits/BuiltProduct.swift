package import Foundation

extension URL {
  /// The location of an executable of this package: it lies beside the test program, where the build puts both.
  package init(ofProduct name: String) {
    #if os(Linux)
      let tests = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    #else
      let tests = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL ?? Bundle.main.bundleURL
    #endif
    self = tests.deletingLastPathComponent().appending(path: name)
  }
}
