/// What waits for pieces of work, such as an application with all its transitions: one node in the wait graph.
///
/// It is also a piece of work, which never ends, for code that has no object of its own, such as that of a transition.
package final class WorkScope: AwaitedWork {
  package init() {}

  package var scope: WorkScope { self }
  package var isUnderWay: Bool { true }
  package var isRepeated: Bool { false }
}
