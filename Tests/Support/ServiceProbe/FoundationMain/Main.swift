import ServiceProbeProgram

/// The same program, linked with the bridge, which brings Foundation's run loop along; it need not be imported for that.
@main enum Main {
  static func main() { ServiceProbe.main() }
}
