internal import CPubSub

/// The writers' view of the handlers of a topic, or of one of its subjects; the bus's lock guards it.
final class HandlerList {
  /// The word through which posts find the block: the topic's root, or a cell of its table of subjects; nil while the list is empty.
  private var blockWord: UnsafeMutablePointer<UnsafeRawPointer?>
  /// The block; an empty list keeps a small one for its next handler.
  private(set) var block: HandlerBlock?
  /// The number of handlers that are not cancelled.
  private var livingCount = 0

  init(at blockWord: UnsafeMutablePointer<UnsafeRawPointer?>) { self.blockWord = blockWord }

  var isEmpty: Bool { livingCount == 0 }

  /// The entries of all handlers that are not cancelled.
  var living: [HandlerBlock.Entry] { block.map { block in block.living.map { block.entries[$0] } } ?? [] }

  /// Returns the index of a handler that is not cancelled; nil if the list has none with this identifier.
  func index(of id: UInt64) -> Int? {
    guard let block, let index = block.index(of: id), !block.isCancelled(at: index) else { return nil }
    return index
  }

  /// Adds a handler.
  ///
  /// - Complexity: constant on average, unless a handler of a lower priority stands in the list; then linear.
  func add(_ handler: pubsub_handler, _ entry: HandlerBlock.Entry, _ garbage: inout Garbage) {
    livingCount += 1
    if let block, block.canAppend(entry.priority) {
      block.append(handler, entry)
      if livingCount == 1 { publish() }
    } else {
      let new = block?.copy(livingCount, adding: (handler, entry)) ?? HandlerBlock(capacity: 4)
      if block == nil { new.append(handler, entry) }
      replace(by: new, &garbage)
    }
  }

  /// Replaces the handler at an index by one that does nothing; the caller then calls ``shrink(_:)``.
  func cancel(at index: Int) {
    block?.cancel(at: index)
    livingCount -= 1
  }

  /// Hides an empty list from posts, and moves the handlers to a new block if well over half are cancelled.
  ///
  /// - Complexity: constant on average for each cancelled handler.
  func shrink(_ garbage: inout Garbage) {
    guard let block else { return }
    if livingCount == 0 {
      publish()
      if block.capacity > Self.smallCapacity { replace(by: nil, &garbage) }
    } else if block.used > 2 * livingCount + 2 * Self.smallCapacity {
      replace(by: block.copy(livingCount), &garbage)
    }
  }

  private static let smallCapacity = 8

  private func replace(by new: HandlerBlock?, _ garbage: inout Garbage) {
    let former = block
    block = new
    publish()
    if let former { garbage.retire(former) }
  }

  private func publish() {
    Hook.step("publish: set the block")
    pubsub_publish(blockWord, livingCount == 0 ? nil : block.map { UnsafeRawPointer($0.base) })
    Hook.step("publish: the block has been set")
  }

  /// Moves to a new table, which the caller then publishes.
  func move(to table: UnsafeMutablePointer<pubsub_table>, _ key: UnsafeRawPointer) {
    blockWord = pubsub_insert(table, key, blockWord.pointee)
  }

  /// Retires the block, which no post can find any more; the list must not be used afterward.
  func free(_ garbage: inout Garbage) { if let block { garbage.retire(block) } }
}
