import Glibc
import PseudoTerminal

/// An X server whose screen is only in memory, with a window manager: children of the test.
struct VirtualDisplay {
  /// What the programs on the display have in their environment.
  let environment: [String: String]

  /// Why there can be no display; nil where there can.
  static var obstacle: String? {
    ["Xvfb", "openbox", "xdotool"].first { installedProgram($0) == nil }.map { "\($0) is not installed" }
  }

  /// Runs `body` with a display, and ends the display afterwards.
  static func run<Result>(in directory: TemporaryDirectory, _ body: (VirtualDisplay) async throws -> Result)
    async throws
    -> Result
  {
    let numbers = try LineFile(directory.file("display"))
    let server = try start(
      ["Xvfb", "-displayfd", "1", "-screen", "0", "1024x640x24", "-nolisten", "tcp", "-noreset"], output: numbers.path)
    return try await running {
      let environment = [
        "DISPLAY": ":" + (try await numbers.line("a display's number") { !$0.isEmpty }),
        // Drawing in memory is the same on each machine.
        "SDL_VIDEODRIVER": "x11", "SDL_RENDER_DRIVER": "software",
      ]
      let manager = try await startManager(in: directory, environment)
      return try await running {
        try await body(VirtualDisplay(environment: environment))
      } finally: {
        await manager.end()
      }
    } finally: {
      await server.end()
    }
  }

  /// Does something to the windows, as xdotool's commands say.
  func xdotool(_ commands: String...) async throws {
    let program = try await runProgram(["xdotool"] + commands, environment: environment)
    if program.ending != .exited(0) { throw Failure(commands: commands, errors: program.errors) }
  }

  /// Gives a window the focus, restored if it was minimized, and returns when it has it.
  func activate(_ title: String) async throws {
    try await xdotool("search", "--sync", "--name", "^\(title)$", "windowactivate", "--sync")
  }

  private struct Failure: Error { let commands: [String], errors: String }

  /// The focus goes to each new window, and back to the one before when a window is gone; Alt+F4 closes a window.
  private static let configuration = """
    <openbox_config xmlns="http://openbox.org/3.4/rc">
      <focus><focusNew>yes</focusNew><focusLast>yes</focusLast><followMouse>no</followMouse></focus>
      <keyboard><keybind key="A-F4"><action name="Close"/></keybind></keyboard>
    </openbox_config>

    """

  private static func startManager(
    in directory: TemporaryDirectory, _ environment: [String: String]
  ) async throws -> ChildProcess {
    try directory.write(configuration, to: "openbox.xml")
    let ready = try LineFile(directory.file("openbox.ready"))
    let manager = try start(
      [
        "openbox", "--sm-disable", "--config-file", directory.file("openbox.xml"), "--startup",
        "sh -c 'echo ready > \(ready.path)'",
      ], output: nil, environment)
    do { try await ready.line(startingWith: "ready") } catch {
      await manager.end()
      throw error
    }
    return manager
  }

  private static func start(
    _ arguments: [String], output: String?, _ environment: [String: String] = [:]
  ) throws -> ChildProcess {
    let descriptor = output.map { open($0, O_WRONLY | O_TRUNC | O_CLOEXEC) } ?? -1
    defer { if descriptor >= 0 { close(descriptor) } }
    return try ChildProcess(
      arguments, environment: bareEnvironment.merging(environment) { $1 }, descriptors: (-1, descriptor, -1),
      directory: nil)
  }
}
