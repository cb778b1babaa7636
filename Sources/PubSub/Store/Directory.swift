internal import CPubSub

/// The target of a topic's root if one buffer does not suffice: a buffer for each priority, highest first, and the
/// table of subjects.
///
/// A published directory never changes, so a reader that protects it sees one consistent state. What it points to is
/// retired with it. The lowest bit of the root marks a pointer to a directory.
struct Directory {
  private struct Header {
    var count: Int
    var subjects: SubjectTable?
  }

  /// The address with the mark bit, as the root and the readers' slots hold it.
  let root: UnsafeRawPointer

  init(root: UnsafeRawPointer) { self.root = root }

  init(_ buffers: [HandlerBuffer], subjects: SubjectTable?) {
    let size = MemoryLayout<Header>.size + buffers.count * MemoryLayout<UInt>.size
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
    memory.initializeMemory(as: Header.self, to: Header(count: buffers.count, subjects: subjects))
    root = UnsafeRawPointer(memory) + 1
    for (index, buffer) in buffers.enumerated() { bases[index] = buffer.base }
  }

  func deallocate() { UnsafeMutableRawPointer(mutating: root - 1).deallocate() }

  private var header: Header { (root - 1).load(as: Header.self) }
  private var bases: UnsafeMutablePointer<UnsafeMutablePointer<pubsub_buffer>> {
    UnsafeMutableRawPointer(mutating: root - 1 + MemoryLayout<Header>.size)
      .assumingMemoryBound(to: UnsafeMutablePointer<pubsub_buffer>.self)
  }

  var count: Int { header.count }
  var subjects: SubjectTable? { header.subjects }
  func buffer(_ index: Int) -> HandlerBuffer { HandlerBuffer(base: bases[index]) }
}
