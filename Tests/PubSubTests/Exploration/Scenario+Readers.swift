#if PUBSUB_HOOKS
  @testable import PubSub

  // What threads do beside iterators of sequences, which are receivers, and with sticky types.

  extension Scenario {
    func withReaders() -> World {
      let world = World()
      let postsInside = [.nestedReader, .firstReader, .firstReaderOfTwo].contains(self)
      if ![.firstReader, .firstReaderOfTwo].contains(self) { world.read("the first reader") }
      if self == .firstReaderOfTwo { world.subscribe("high", .high) }
      var isFirst = true
      let one = world.subscribe("one") {
        guard postsInside, isFirst else { return }
        isFirst = false
        world.post(2)
      }
      world.subscribe("two")
      switch self {
      case .readerBesideHandler:
        world.bodies = [
          { world.post(1) }, { world.post(2) },
          {
            world.read("the new reader")
            world.cancel(one)
          },
        ]
      default:
        world.bodies = [
          {
            world.post(1)
            if self == .reader { world.post(2) }
          }, { world.read("the new reader") },
        ]
      }
      return world
    }

    func withStickyPosts() -> World {
      let world = World(isSticky: true)
      switch self {
      case .replay:
        world.post(1)
        world.read("the first reader", replaysLatest: true)
        world.bodies = [
          {
            world.post(2)
            world.post(3)
          }, { world.read("the new reader", replaysLatest: true) },
        ]
      case .twoReplays:
        world.bodies = [
          { world.post(1) }, { world.post(2) },
          {
            world.read("one", replaysLatest: true)
            world.read("two", replaysLatest: true)
          },
        ]
      case .stickyCancel:
        world.read("one")
        world.askAtEnd()
        world.bodies = [{ world.post(1) }, { world.cancelAsking() }]
      default:
        world.read("one")
        world.read("two")
        world.postInside(self == .nestedSticky ? 3 : nil)
        world.bodies = [
          {
            world.post(1)
            if self == .sticky { world.post(4) }
          }, { world.post(2) },
        ]
      }
      return world
    }
  }
#endif
