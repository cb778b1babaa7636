import Foundation

/// A headless Chromium, where one is installed: opens a page of a file, and tells what became of it.
struct Browser {
  private let executable: String

  /// Nil, and says so, where there is none.
  init?() {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"]
    let paths = names.flatMap { name in folders.map { "\($0)/\(name)" } }
    let isThere = FileManager.default.isExecutableFile(atPath:)
    guard let path = paths.first(where: isThere), isThere("/usr/bin/timeout") else {
      print("skipped: there is no Chromium here (\(names.joined(separator: ", ")))")
      return nil
    }
    executable = path
  }

  /// A page that was opened.
  struct Visit {
    /// The elements, after the page's script has run.
    var elements: [Element]
    /// What the page asked of the network; what the browser itself may have asked does not count.
    var requests: [String]
  }

  enum Trouble: Error { case ended(status: Int32), noNetworkLog }

  /// Opens a page; the browser finds no host, whatever is asked of it.
  func visit(_ page: URL, width: Int = 1_280, isDark: Bool = false, in folder: URL) async throws -> Visit {
    let log = folder.appending(path: "network-\(UUID().uuidString).json")
    let text = try await run(
      [
        "--log-net-log=\(log.path)", "--window-size=\(width),900", Self.scheme(isDark: isDark), "--dump-dom",
        page.absoluteString,
      ], in: folder)
    return Visit(elements: Element.all(in: text), requests: try Self.requests(in: log))
  }

  /// Takes a picture of a page.
  func picture(of page: URL, width: Int, height: Int, isDark: Bool, to file: URL, in folder: URL) async throws {
    _ = try await run(
      [
        "--window-size=\(width),\(height)", "--hide-scrollbars", "--screenshot=\(file.path)",
        Self.scheme(isDark: isDark), page.absoluteString,
      ], in: folder)
  }

  private static func scheme(isDark: Bool) -> String { "--blink-settings=preferredColorScheme=\(isDark ? 0 : 1)" }

  /// Waits in a thread of its own: a browser takes seconds, in which other tests have to go on.
  private func run(_ arguments: [String], in folder: URL) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try wait(for: arguments, in: folder) }) }
    }
  }

  private func wait(for arguments: [String], in folder: URL) throws -> String {
    let process = Process()
    let output = Pipe()
    // The time limit bounds a hang alone.
    process.executableURL = URL(filePath: "/usr/bin/timeout")
    process.arguments =
      [
        "--kill-after=5", "200", executable, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--user-data-dir=\(folder.appending(path: "browser-\(UUID().uuidString)").path)",
      ] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(["TZ": "UTC"]) { $1 }
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Trouble.ended(status: process.terminationStatus) }
    return String(decoding: text, as: UTF8.self)
  }

  /// The requests that a page began, from the browser's own log.
  private static func requests(in log: URL) throws -> [String] {
    let object = try JSONSerialization.jsonObject(with: Data(contentsOf: log)) as? [String: Any]
    let types = (object?["constants"] as? [String: Any])?["logEventTypes"] as? [String: Int]
    guard let type = types?["URL_REQUEST_START_JOB"], let events = object?["events"] as? [[String: Any]] else {
      throw Trouble.noNetworkLog
    }
    return events.filter { $0["type"] as? Int == type }.compactMap { event in
      let parameters = event["params"] as? [String: Any]
      // What no page has begun has no origin.
      return parameters?["initiator"] as? String == "not an origin" ? nil : parameters?["url"] as? String
    }
  }
}

/// The beginning of an element, with the text behind it.
struct Element {
  var name: String
  var attributes: [String: String] = [:]
  /// What stands between it and the next tag.
  var text = ""

  subscript(_ attribute: String) -> String? { attributes[attribute] }
  var classes: [String] { (attributes["class"] ?? "").split(separator: " ").map(String.init) }

  /// Those in a text that a browser has written.
  static func all(in html: String) -> [Element] {
    var elements: [Element] = []
    var rest = Substring(html)
    func take(until stop: (Character) -> Bool) -> Substring {
      let part = rest.prefix { !stop($0) }
      rest = rest[part.endIndex...]
      return part
    }
    while !rest.isEmpty {
      let text = take { $0 == "<" }
      if !elements.isEmpty { elements[elements.count - 1].text += plain(text) }
      rest = rest.dropFirst()
      guard rest.first?.isLetter == true else {
        // The end of an element: what follows is no text of the one before.
        if rest.first == "/" { elements.append(Element(name: "/")) }
        _ = take { $0 == ">" }
        rest = rest.dropFirst()
        continue
      }
      var element = Element(name: String(take { !($0.isLetter || $0.isNumber) }))
      while let next = rest.first, next != ">" {
        if next.isWhitespace {
          rest = rest.dropFirst()
          continue
        }
        let key = String(take { $0 == "=" || $0 == ">" || $0.isWhitespace })
        guard rest.hasPrefix("=\"") else {
          element.attributes[key] = ""
          continue
        }
        rest = rest.dropFirst(2)
        element.attributes[key] = plain(take { $0 == "\"" })
        rest = rest.dropFirst()
      }
      rest = rest.dropFirst()
      elements.append(element)
    }
    return elements.filter { $0.name != "/" }
  }

  private static func plain(_ text: Substring) -> String {
    [("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", "\u{A0}"), ("&amp;", "&")].reduce(String(text)) {
      $0.replacingOccurrences(of: $1.0, with: $1.1)
    }
  }
}
