extension Duration {
  /// The duration as text, in seconds: whole, or with three decimals, cut off to milliseconds.
  package var inSeconds: String {
    if self < .zero { return "-" + (.zero - self).inSeconds }
    let (seconds, attoseconds) = components
    let milliseconds = attoseconds / 1_000_000_000_000_000
    if seconds == 0, milliseconds == 0 { return self == .zero ? "0 s" : "< 1 ms" }
    return milliseconds == 0 ? "\(seconds) s" : "\(seconds).\(String(milliseconds + 1_000).dropFirst()) s"
  }

  /// The duration as an exact number of seconds, with at least one digit after the point: `0.0`, `0.5`, `86400.0`.
  package var decimalSeconds: String {
    var json = JSONBytes()
    json.append(seconds: self)
    return json.text
  }
}
