/// Journals in which one number, or one number of every line of a kind, is an extreme one.
public enum ExtremeJournals {
  /// What stands in the place of a number.
  public static let values = [
    "0", "-1", "-0", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "9223372036854775808",
    "1e308", "-1e308", "1e400", "NaN", "0.1e-400", "98765432109876543210", "-98765432109876543210",
    // The longest times that a reader accepts.
    "999999999999.999999999999999999", "-999999999999.999999999999999999",
  ]

  /// A run with two lines of each kind, and times that differ.
  private static let lines = [
    #"{"journal":"run","version":1,"run":"RUN","part":0,"program":"trips","pid":4711,"boot":"boot-1","#
      + #""start":1795280400.5,"t":0.0,"wall":1795280400.5,"upStart":500.5,"up":500.5,"state":"notRunning"}"#,
    #"{"t":0.25,"kind":"input","name":"launch","state":"notRunning","scene":null,"cause":"launch"}"#,
    #"{"t":1.5,"kind":"state","name":"active","state":"active","scene":null,"cause":"launch"}"#,
    #"{"journal":"entry","t":3.0,"began":2.0,"kind":"resource","name":"feed","source":"Trips/Feed.swift:12","#
      + #""step":"acquire","outcome":"completed"}"#,
    #"{"journal":"entry","t":5.0,"began":4.0,"kind":"task","name":"upload","source":null,"#
      + #""step":"task","outcome":"failed","error":"no route"}"#,
    #"{"journal":"gap","t":7.0,"since":6.0,"lost":3,"error":"No space left on device"}"#,
    #"{"journal":"gap","t":9.0,"since":8.0,"lost":4,"error":"No space left on device"}"#,
    #"{"journal":"clock","t":10.0,"wall":1795284010.0,"up":510.5}"#,
    #"{"journal":"clock","t":11.0,"wall":1795280411.0}"#,
    #"{"journal":"alive","t":71.0}"#,
    #"{"journal":"stopped","t":71.5,"error":"No space left on device"}"#,
    #"{"journal":"run","version":1,"run":"RUN","part":1,"program":"trips","pid":4711,"boot":"boot-1","#
      + #""start":1795280400.5,"t":72.0,"wall":1795280472.5,"upStart":500.5,"up":572.5,"state":"active"}"#,
    #"{"t":73.0,"kind":"state","name":"background","state":"background","scene":null,"cause":"home"}"#,
    #"{"journal":"entry","t":75.0,"began":74.0,"kind":"resource","name":"feed","source":"Trips/Feed.swift:12","#
      + #""step":"release","outcome":"completed"}"#,
    #"{"journal":"alive","t":135.0}"#,
    #"{"journal":"crash","t":135.5,"signal":"SIGSEGV"}"#,
    #"{"t":136.0,"kind":"report","name":"watchdog:feed","state":"background","scene":"main","cause":"home"}"#,
  ]

  /// All journals; each holds one run, whose name is its own.
  public static let all: [String] = {
    var journals: [[String]] = []
    for (index, line) in lines.enumerated() {
      for number in 0..<numbers(of: line).count {
        for value in values {
          var one = lines
          one[index] = replacing(number, of: line, by: value)
          journals.append(one)
          // A sum overflows only with the second line.
          let alike = lines.map { kind(of: $0) == kind(of: line) ? replacing(number, of: $0, by: value) : $0 }
          if alike != one, index == lines.firstIndex(where: { kind(of: $0) == kind(of: line) }) {
            journals.append(alike)
          }
        }
      }
    }
    // All times from one end of the range to the other.
    for pair in [(values[14], values[15]), (values[15], values[14])] {
      journals.append(
        lines.enumerated().map { index, line in
          replacing("\"t\":", of: line, by: index.isMultiple(of: 2) ? pair.0 : pair.1)
        })
    }
    return journals.enumerated().map { number, lines in
      lines.map { $0.replacing("RUN", with: "v\(number)") + "\n" }.joined()
    }
  }()

  private static func kind(of line: String) -> Substring { line.prefix(17) }

  /// The numbers in a line, those in texts included.
  private static func numbers(of line: String) -> [Range<String.Index>] {
    line.ranges(of: /-?[0-9]+(\.[0-9]+)?/)
  }

  private static func replacing(_ number: Int, of line: String, by value: String) -> String {
    let ranges = numbers(of: line)
    return number < ranges.count ? line.replacingCharacters(in: ranges[number], with: value) : line
  }

  private static func replacing(_ key: String, of line: String, by value: String) -> String {
    guard let place = line.range(of: key) else { return line }
    let rest = line[place.upperBound...]
    return line[..<place.upperBound] + value + rest.drop { "0123456789.-".contains($0) }
  }
}

extension String {
  fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
    var result = self
    result.replaceSubrange(range, with: text)
    return result
  }

  fileprivate func range(of text: String) -> Range<Index>? { firstRange(of: text) }
}
