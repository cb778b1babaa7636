import LibC

/// The foreground group of the terminal while a child process in a group of its own has the terminal.
extension TerminalDevice {
  /// Makes a group the foreground group, now or when the program is in the foreground again.
  ///
  /// The program's own group is there without a borrower, and its SIGCONT would reach the host, which would send the next
  /// one. The kernel takes -1 for every process.
  mutating func bringToForeground(_ group: pid_t) {
    if group == getpgrp() { return endBorrowing() }
    guard group > 1 else { return }
    borrower = group
    continueBorrower()
  }

  /// Makes the borrower's group the foreground group, and continues it: it was stopped together with the program, or has
  /// read from the terminal too early.
  func continueBorrower() {
    guard let borrower, look == .foreground, setForegroundGroup(borrower) else { return }
    kill(-borrower, SIGCONT)
  }

  /// Stops the child process together with the program, and waits for that, but not for ever: it may ignore the signal.
  ///
  /// A child that waits for input would otherwise take the first line that the user types for the shell. It may have been
  /// sent no signal: the program was stopped by its process number, or by a key before the child had the terminal. And a
  /// child that was sent one may not have run since: the kernel gives it input that comes meanwhile, before the signal.
  func stopBorrower() {
    let group = borrower ?? getpgrp()
    if borrower != nil, hasStoppedChild(in: group) == false { kill(-group, SIGTSTP) }
    for _ in 0..<100 where hasStoppedChild(in: group) == false { poll(nil, 0, 5) }
  }

  /// Makes the program's own group the foreground group, if the borrower's is.
  func takeForeground() {
    guard let borrower, tcgetpgrp(descriptor) == borrower else { return }
    _ = setForegroundGroup(getpgrp())
  }

  /// Makes the program's own group the foreground group, if the foreground group has no process left.
  ///
  /// A shell that ran as the child, with job control of its own, has died before it gave the terminal back. While the
  /// program is the foreground job, no other process would take it.
  func takeAbandonedForeground() {
    let owner = tcgetpgrp(descriptor)
    guard owner > 0, owner != getpgrp(), kill(-owner, 0) != 0, errno == ESRCH else { return }
    _ = setForegroundGroup(getpgrp())
  }

  /// Forgets the borrower.
  mutating func endBorrowing() {
    takeForeground()
    borrower = nil
  }

  /// Whether a key has stopped a process of the borrower's group.
  var borrowerIsStopped: Bool { borrower.flatMap { hasStoppedChild(in: $0) } ?? false }

  /// Whether a child process of a group is stopped; nil if the program has no child there.
  private func hasStoppedChild(in group: pid_t) -> Bool? {
    var info = siginfo_t()
    // Leave the news for the code that waits for the child.
    guard waitid(P_PGID, id_t(group), &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 else { return nil }
    return info.si_signo == SIGCHLD
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
