internal import Scheduling

/// A weak reference that others share.
///
/// In the direct build it leaves the object's counts where they are, and keeps its memory; see ``ObjectReference``.
package final class LightReference: Sendable {
  private let reference: ObjectReference

  package init(_ object: any AnyObject & Sendable) { reference = ObjectReference(object) }

  deinit { reference.end() }

  /// The object; nil after it has been released.
  package var object: (any AnyObject & Sendable)? { reference.object }
}
