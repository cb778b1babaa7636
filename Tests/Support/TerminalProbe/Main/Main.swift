import TerminalProbeProgram

@main enum Main {
  static func main() { TerminalProbe.main() }
}
