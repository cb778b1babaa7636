internal import CPubSub

/// What a topic's root points to when one buffer does not suffice: a buffer for each priority, highest first, and those of the
/// subjects.
///
/// It never changes once it is published, so that a reader that protects it sees one state; what it points to is retired with
/// it. The root marks such a pointer by its lowest bit.
struct Directory {
  private struct Header {
    var count: Int
    var subjects: SubjectTable?
  }

  /// With the mark, as the root and the readers' slots hold it.
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
