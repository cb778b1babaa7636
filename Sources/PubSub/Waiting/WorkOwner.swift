/// An owner that waits for pieces of work, such as an application with all its transitions: one node in the wait graph.
///
/// It is also a piece of work itself, which never ends: the code that a transition runs itself.
package final class WorkOwner: AwaitedWork {
  package init() {}

  package var owner: WorkOwner { self }
  package var isUnderWay: Bool { true }
  package var isRun: Bool { false }
}
