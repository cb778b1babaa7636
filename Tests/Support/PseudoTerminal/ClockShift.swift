import CPseudoTerminal

/// Sets the machine's clock by so little that it harms no program.
///
/// - Throws: `SystemError` where that is not allowed.
package func shiftClock(nanoseconds: Int) throws {
  guard cpt_shift_clock(nanoseconds) == 0 else { throw SystemError("adjtimex") }
}
