import AppLifecycle
import LifecycleJournal

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A fatal signal whose handler waits until another thread has written a record to the journal.
///
/// So a record follows the line of the crash in every run, however fast the machine is.
enum DeathBesideAWriter {
  /// The reading and the writing end of each pipe: of the handler's question, and of the writer's answer.
  nonisolated(unsafe) private static var question: [Int32] = [0, 0]
  nonisolated(unsafe) private static var answer: [Int32] = [0, 0]
  nonisolated(unsafe) private static var journal: Journal?

  /// Installs the handler; the journal's own must come later.
  static func prepare() {
    pipe(&question)
    pipe(&answer)
    signal(SIGFPE) { number in
      var byte: UInt8 = 0
      write(DeathBesideAWriter.question[1], &byte, 1)
      read(DeathBesideAWriter.answer[0], &byte, 1)
      signal(number, SIG_DFL)
    }
  }

  /// Starts the other thread, and raises the signal.
  static func begin(_ journal: Journal) {
    self.journal = journal
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    pthread_create(
      &thread, nil,
      { _ in
        var byte: UInt8 = 0
        read(DeathBesideAWriter.question[0], &byte, 1)
        DeathBesideAWriter.journal?.append(
          LifecycleRecord(instant: .zero, kind: .notification, name: "beside", state: .active, cause: "test"))
        write(DeathBesideAWriter.answer[1], &byte, 1)
        return nil
      }, nil)
    raise(SIGFPE)
  }
}
