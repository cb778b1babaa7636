#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The foreground group of the terminal while a child process in a group of its own has the terminal.
extension TerminalDevice {
  /// Makes a group the foreground group, now or when the program is in the foreground again.
  mutating func bringToForeground(_ group: pid_t) {
    borrower = group
    continueBorrower()
  }

  /// Makes the borrower's group the foreground group, and continues it: it was stopped together with the program, or has
  /// read from the terminal too early.
  func continueBorrower() {
    guard let borrower, look == .foreground, setForegroundGroup(borrower) else { return }
    kill(-borrower, SIGCONT)
  }

  /// Stops the borrower's group together with the program, and waits for that, but not for ever: a process may ignore the
  /// signal.
  ///
  /// A child that waits for input would otherwise take the first line that the user types for the shell. The key was not
  /// for the child if the program was stopped by its process number, or before the child had the terminal.
  func stopBorrower() {
    guard let borrower, !borrowerIsStopped, kill(-borrower, SIGTSTP) == 0 else { return }
    for _ in 0..<100 where !borrowerIsStopped { poll(nil, 0, 5) }
  }

  /// Makes the program's own group the foreground group, if the borrower's is.
  func takeForeground() {
    guard let borrower, tcgetpgrp(descriptor) == borrower else { return }
    _ = setForegroundGroup(getpgrp())
  }

  /// Forgets the borrower.
  mutating func endBorrowing() {
    takeForeground()
    borrower = nil
  }

  /// Whether a key has stopped a process of the borrower's group.
  var borrowerIsStopped: Bool {
    guard let borrower else { return false }
    var info = siginfo_t()
    // Leave the news for the code that waits for the child.
    let flags = WSTOPPED | WNOHANG | WNOWAIT
    return waitid(P_PGID, id_t(borrower), &info, flags) == 0 && info.si_signo == SIGCHLD
  }

  /// Sets the foreground group, also from the background.
  private func setForegroundGroup(_ group: pid_t) -> Bool {
    var only = sigset_t()
    var before = sigset_t()
    sigemptyset(&only)
    sigaddset(&only, SIGTTOU)
    pthread_sigmask(SIG_BLOCK, &only, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    return tcsetpgrp(descriptor, group) == 0
  }
}
