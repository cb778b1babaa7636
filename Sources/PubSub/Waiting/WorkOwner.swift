/// An owner that waits for pieces of work, such as an application with all its transitions: one node in the wait graph.
///
/// It also stands for the code that a transition runs directly: a piece of work that never ends.
package final class WorkOwner: AwaitedWork {
  package init() {}

  package var owner: WorkOwner { self }
  package var isUnderWay: Bool { true }
  package var isRepeated: Bool { false }
}
