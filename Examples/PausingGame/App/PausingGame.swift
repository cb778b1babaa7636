// A small game in two windows of SDL 2, which pauses when its window loses the focus:
//
//     apt-get install libsdl2-dev
//     swift run --traits SDL PausingGame
//
// Arrows move the paddle, space pauses and goes on, S opens and closes the scores, Q quits. `--record` writes the records of the
// life cycle to standard output; `--demo` lets the paddle follow the ball.

import AppLifecycle
import UnixHost

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@main enum PausingGame {
  @MainActor static func main() {
    let options = CommandLine.arguments.dropFirst()
    if let mistake = options.first(where: { !["--record", "--demo"].contains($0) }) {
      StandardError.writeLine("PausingGame: unknown option “\(mistake.prefix(100))”")
      StandardError.writeLine("usage: PausingGame [--record] [--demo]")
      exit(EX_USAGE)
    }
    #if canImport(CSDL)
      exit(run(records: options.contains("--record"), playsItself: options.contains("--demo")))
    #else
      StandardError.writeLine(
        "PausingGame: built without SDL 2. Install it (Debian: apt-get install libsdl2-dev), then run:")
      StandardError.writeLine(command)
      exit(EX_UNAVAILABLE)
    #endif
  }

  /// The command that builds the game with SDL; a build with the trait does not notice by itself that SDL has been installed.
  private static var command: String {
    #if SDL
      "swift package clean && swift run --traits SDL PausingGame"
    #else
      "swift run --traits SDL PausingGame"
    #endif
  }

  #if canImport(CSDL)
    @MainActor private static func run(records: Bool, playsItself: Bool) -> Int32 {
      do {
        let windows = try SDLWindows()
        let delegate = GameDelegate(playsItself: playsItself, openWindow: windows.open)
        let application = Application(delegate: delegate)
        Application.adopt(application)
        let log = records ? RunLog(application) : nil
        return withExtendedLifetime(log) {
          SDLLoop(host: GameHost(application: application), delegate: delegate, windows: windows).run()
        }
      } catch {
        StandardError.writeLine("PausingGame: no window can be opened: \(error)")
        return EX_UNAVAILABLE
      }
    }
  #endif
}
