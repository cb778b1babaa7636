import Glibc
import UnixHost

/// Standard output, for text that the user has asked for.
package enum StandardOutput {
  /// Writes all of a text, and waits for a slow reader.
  ///
  /// - Parameters:
  ///   - text: the text that the user has asked for.
  ///   - program: the program's name, for the message of a failure.
  /// - Returns: the exit status. A reader that has seen enough closes the pipe, which is an ordinary end. Any other failure is
  ///   named on standard error and has the status 74, `EX_IOERR` of `sysexits.h`.
  package static func write(_ text: String, for program: String) -> CInt {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        // Another program that shares the descriptor has made it non-blocking.
        var descriptor = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        _ = poll(&descriptor, 1, -1)
      } else if errno == EPIPE {
        return EXIT_SUCCESS
      } else if errno != EINTR {
        StandardError.writeLine("\(program): \(SystemError("standard output"))")
        return EX_IOERR
      }
    }
    return EXIT_SUCCESS
  }
}
