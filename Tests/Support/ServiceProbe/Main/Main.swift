import ServiceProbeProgram

@main enum Main {
  static func main() { ServiceProbe.main() }
}
