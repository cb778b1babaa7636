/// What waits for pieces of work, such as an application with all its transitions: one node in the wait graph.
///
/// It also stands for the code that a transition runs directly: a piece of work that never ends.
package final class WorkScope: AwaitedWork {
  package init() {}

  package var scope: WorkScope { self }
  package var isUnderWay: Bool { true }
  package var isRepeated: Bool { false }
}
