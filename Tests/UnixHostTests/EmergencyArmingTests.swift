import CUnixHost
import Glibc
import PseudoTerminal
import Synchronization
import Testing

/// What the code that restores a terminal in a crash finds, whatever the host's thread does at that moment.
@Suite struct EmergencyArmingTests {
  /// The host takes its terminal again after a SIGCONT: another thread may crash meanwhile.
  @Test func aTerminalThatIsArmedAgainIsNeverUnarmed() async {
    let terminal = open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { close(terminal) }
    @Sendable func arm() {
      var modes = termios()
      unixhost_emergency_arm(terminal, 0, &modes, &modes, "leave", 5)
    }
    arm()
    defer { unixhost_emergency_disarm() }
    let looks = Looks()
    async let watcher: Void = onThread {
      while !looks.areOver.load(ordering: .relaxed) {
        if !unixhost_emergency_is_armed() { looks.unarmed.add(1, ordering: .relaxed) }
        looks.count.add(1, ordering: .relaxed)
      }
    }
    // Often, and until the other thread has looked often, on a machine of any speed. Not on a thread of the pool: one that waits
    // there for what the pool has to begin may take the pool's last thread.
    async let arming: Void = onThread {
      for _ in 0..<100_000 { arm() }
      while looks.count.load(ordering: .relaxed) < 1_000_000 { arm() }
      looks.areOver.store(true, ordering: .relaxed)
    }
    _ = await (watcher, arming)
    #expect(looks.unarmed.load(ordering: .relaxed) == 0)
  }

  private final class Looks: Sendable {
    let count = Atomic(0)
    let unarmed = Atomic(0)
    let areOver = Atomic(false)
  }
}
