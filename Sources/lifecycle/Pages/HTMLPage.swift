import AppLifecycle

/// The common parts of the tool's pages: each page is self-contained, and forbids the browser to use the network.
enum HTMLPage {
  /// The page up to the contents of its body.
  static func head(title: String, style: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <link rel="icon" href="data:,">
    <title>\(title.asHTML)</title>
    <style>
    \(palette)
    \(base)
    \(style)
    </style>
    </head>
    <body>
    """
  }

  /// The page's end, with the script that draws it.
  static func foot(script: String) -> String {
    """
    <script>
    "use strict";
    \(make)

    \(script)
    </script>
    </body>
    </html>

    """
  }

  /// The function of the scripts that makes an element.
  private static let make = """
    function make(tag, className, parent, text) {
      const element = document.createElement(tag);
      if (className) element.className = className;
      if (text !== undefined) element.textContent = text;
      if (parent) parent.append(element);
      return element;
    }
    """

  /// The colors of states and calls, in light and in dark.
  static let palette = """
    :root { color-scheme: light dark;
      --ink: #1b1f27; --faint: #5b6472; --paper: #ffffff; --panel: #f5f6f8; --line: #dfe3e9; --guide: #e9ecf1;
      --active: #15803d; --on-active: #ffffff; --inactive: #f0b429; --on-inactive: #332400;
      --background: #2563eb; --on-background: #ffffff; --suspended: #e6e0f4; --on-suspended: #4b3487;
      --stripe: #cfc4ea; --shade: #f4f1fa; --call: #0f766e; --handlers: #d97706; --handler: #b45309;
      --held: #64748b; --on-held: #ffffff; --hatch: #94a3b8; --task: #7c3aed; --late: #dc2626; --on-late: #ffffff; --gap: #dc2626; }
    @media (prefers-color-scheme: dark) { :root {
      --ink: #e7eaef; --faint: #9aa4b2; --paper: #15171c; --panel: #1d2026; --line: #2f343d; --guide: #23272e;
      --active: #158040; --inactive: #d9a020; --on-inactive: #1f1600; --background: #2f68e0;
      --suspended: #362e4d; --on-suspended: #d5c9f3; --stripe: #4a3f69; --shade: #1b1923; --call: #2db5a5;
      --handlers: #f0993c; --handler: #e07f2e; --held: #5a6b84; --hatch: #8090a8; --task: #a78bfa; --late: #f4595b;
      --on-late: #1f0607; --gap: #f4595b; } }
    """

  private static let base = """
    * { box-sizing: border-box; }
    body { margin: 0; color: var(--ink); background: var(--paper);
      font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
    """
}

extension String {
  /// The JSON in a form that may stand in a page: no tag can begin in it.
  var asScriptData: String {
    guard utf8.contains(UInt8(ascii: "<")) else { return self }
    // By scalars: in some scripts a letter and the "<" behind it are one character.
    return unicodeScalars.reduce(into: "") { if $1 == "<" { $0 += "\\u003c" } else { $0.unicodeScalars.append($1) } }
  }

  /// The text in a form that may stand in a page: it has no tags, and invisible characters are written out.
  var asHTML: String {
    printable.unicodeScalars.reduce(into: "") { html, scalar in
      switch scalar {
      case "&": html += "&amp;"
      case "<": html += "&lt;"
      case ">": html += "&gt;"
      case "\"": html += "&quot;"
      default: html.unicodeScalars.append(scalar)
      }
    }
  }
}
