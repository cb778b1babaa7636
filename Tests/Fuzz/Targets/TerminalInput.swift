import TerminalEmulation
import UnixHost

/// Any bytes of a terminal, as the host's input, and as the output of a program on a screen.
enum TerminalInput {
  static func run(_ bytes: [UInt8]) throws {
    var choices = Choices(bytes)
    let seed = choices.next(below: 256)
    let pace = [Duration.zero, .milliseconds(20), .milliseconds(700)][choices.next(below: 3)]
    let size = (rows: choices.next(below: 6) + 1, columns: choices.next(below: 12) + 1)
    try host(choices, seed: seed, pace: pace)
    try decoder(choices, seed: seed)
    try screen(choices, seed: seed, size: size)
  }

  /// The host's way: parser, then decoder, with pauses.
  private static func host(_ choices: Choices, seed: Int, pace: Duration) throws {
    var parser = TerminalInputParser()
    parser.signalKeys = .usual
    var decoder = Terminal.KeyDecoder()
    var now = Duration.zero
    var length = 0
    func take(_ elements: [TerminalInputParser.Element]) throws {
      for element in elements {
        switch element {
        case .bytes(let bytes):
          length += bytes.count
          _ = (decoder.decode(bytes), decoder.flush())
        case .focus: length += 3
        case .signalKey: length += 1
        }
      }
    }
    for piece in choices.pieces(seed: seed) {
      try take(parser.feed(piece, at: now))
      if seed & 1 != 0 { try take(parser.flush()) }
      now += pace
    }
    try take(parser.breakOff())
    _ = decoder.breakOff()
    // A key that makes a signal may be a sequence, and each end of a paste that was broken off is added.
    try promise(length <= 7 * (choices.rest.count + 1), "bytes are invented")
    try promise(parser.breakOff().isEmpty && decoder == Terminal.KeyDecoder(), "something is left")
    try promise(decoder.decode([0x71]) == ["q"], "a key after the end is swallowed")
  }

  /// However the bytes are cut, and whether or not the parser takes reports out first, the keys are the same.
  private static func decoder(_ choices: Choices, seed: Int) throws {
    var (whole, cut) = (Terminal.KeyDecoder(), Terminal.KeyDecoder())
    let keys = whole.decode(Array(choices.rest))
    let pieces = choices.pieces(seed: seed).flatMap { cut.decode(Array($0)) }
    try promise(keys == pieces && whole == cut, "the keys depend on the cuts")
    try promise(keys.count <= 2 * choices.rest.count, "keys are invented")

    var (parser, decoder) = (TerminalInputParser(), Terminal.KeyDecoder())
    let elements = choices.pieces(seed: seed).flatMap { parser.feed($0) } + parser.breakOff()
    let passedOn = elements.flatMap { element in
      if case .bytes(let bytes) = element { decoder.decode(bytes) } else { decoder.breakOff() }
    }
    try promise(passedOn + decoder.breakOff() == keys + whole.breakOff(), "parser and decoder disagree")
  }

  private static func screen(_ choices: Choices, seed: Int, size: (rows: Int, columns: Int)) throws {
    var (whole, cut) = (
      TerminalScreen(rows: size.rows, columns: size.columns), TerminalScreen(rows: size.rows, columns: size.columns)
    )
    whole.feed(choices.rest)
    for piece in choices.pieces(seed: seed) { cut.feed(piece) }
    try promise(whole.text == cut.text && whole.cursor == cut.cursor, "the screen depends on the cuts")
    for rows in [size.rows, 1, 9] {
      cut.resize(rows: rows, columns: rows)
      cut.feed(choices.rest)
      try promise(cut.lines.count == rows && cut.cursor.row < rows && cut.cursor.column < rows, "the size is wrong")
    }
    _ = cut.description
  }
}
