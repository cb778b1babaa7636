extension TerminalScreen {
  /// The action of a complete character or control sequence.
  enum Action: Equatable {
    case print(Unicode.Scalar)
    case control(UInt8)
    /// ESC, intermediate bytes and a final byte.
    case escape(intermediates: [UInt8], final: UInt8)
    /// CSI: the private marker or nil, the numbers (nil if omitted), intermediate bytes and the final byte.
    case controlSequence(marker: UInt8?, parameters: [Int?], intermediates: [UInt8], final: UInt8)
    case operatingSystemCommand(String)
  }

  /// Splits a stream of bytes into characters and control sequences (ECMA-48).
  struct Parser: Sendable {
    private enum State { case ground, escape, controlSequence, string, stringEscape }

    private var state = State.ground
    /// The bytes of the sequence so far, without its introducer.
    private var collected: [UInt8] = []
    /// More than any sequence or title needs; the rest of a sequence without an end is not kept.
    private static let collectedLimit = 4096
    /// The byte that introduced the string that is being collected.
    private var introducer: UInt8 = 0
    private var character: [UInt8] = []
    private var characterLength = 0

    mutating func take(_ byte: UInt8) -> Action? {
      switch state {
      case .ground: return ground(byte)
      case .escape: return escape(byte)
      case .controlSequence: return controlSequence(byte)
      case .string:
        if byte == 0x1B {
          state = .stringEscape
        } else if byte == 0x07 {
          return endOfString()
        } else {
          collect(byte)
        }
        return nil
      case .stringEscape:
        let action = endOfString()
        if byte == 0x5C { return action }
        // This is not the string terminator: another sequence has ended the string.
        state = .escape
        _ = escape(byte)
        return action
      }
    }

    private mutating func ground(_ byte: UInt8) -> Action? {
      if byte == 0x1B {
        begin(.escape)
        character = []
        return nil
      }
      if byte < 0x20 || byte == 0x7F {
        character = []
        return .control(byte)
      }
      if byte < 0x80 {
        character = []
        return .print(Unicode.Scalar(byte))
      }
      return multibyte(byte)
    }

    private mutating func multibyte(_ byte: UInt8) -> Action? {
      if byte >= 0xC0 {
        characterLength = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
        character = [byte]
        return nil
      }
      guard !character.isEmpty else { return .print("\u{FFFD}") }
      character.append(byte)
      guard character.count == characterLength else { return nil }
      defer { character = [] }
      return .print(String(decoding: character, as: UTF8.self).unicodeScalars.first!)
    }

    private mutating func escape(_ byte: UInt8) -> Action? {
      switch byte {
      case 0x1B: begin(.escape)
      case 0x18, 0x1A: begin(.ground)
      case 0x00..<0x20: return .control(byte)
      case 0x5B where collected.isEmpty: begin(.controlSequence)
      // OSC, DCS, SOS, PM and APC: strings up to ST.
      case _ where collected.isEmpty && [0x5D, 0x50, 0x58, 0x5E, 0x5F].contains(byte):
        begin(.string)
        introducer = byte
      case 0x20...0x2F: collect(byte)
      default:
        let intermediates = collected
        begin(.ground)
        return .escape(intermediates: intermediates, final: byte)
      }
      return nil
    }

    private mutating func controlSequence(_ byte: UInt8) -> Action? {
      switch byte {
      case 0x1B: begin(.escape)
      case 0x18, 0x1A: begin(.ground)
      case 0x00..<0x20: return .control(byte)
      case 0x40...0x7E:
        let bytes = collected
        begin(.ground)
        return Self.sequence(bytes, final: byte)
      default: collect(byte)
      }
      return nil
    }

    /// Larger than any screen, and too small to overflow in sums.
    private static let largest = 99_999

    private static func sequence(_ bytes: [UInt8], final: UInt8) -> Action {
      var rest = bytes[...]
      var marker: UInt8?
      if let first = rest.first, (0x3C...0x3F).contains(first) {
        marker = first
        rest = rest.dropFirst()
      }
      let numbers = rest.prefix { (0x30...0x3F).contains($0) }
      let parameters = numbers.split(separator: 0x3B, omittingEmptySubsequences: false).map { field -> Int? in
        // A colon separates sub-parameters; the first one is the parameter.
        let digits = field.prefix { $0 != 0x3A }
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { min($0 * 10 + Int($1 - 0x30), largest) }
      }
      return .controlSequence(
        marker: marker, parameters: parameters, intermediates: Array(rest.dropFirst(numbers.count)), final: final)
    }

    private mutating func endOfString() -> Action? {
      let text = String(decoding: collected, as: UTF8.self)
      let isCommand = introducer == 0x5D
      begin(.ground)
      return isCommand ? .operatingSystemCommand(text) : nil
    }

    private mutating func collect(_ byte: UInt8) {
      if collected.count < Self.collectedLimit { collected.append(byte) }
    }

    private mutating func begin(_ state: State) {
      self.state = state
      collected = []
    }
  }
}
