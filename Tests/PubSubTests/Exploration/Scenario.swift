#if PUBSUB_HOOKS
  import CPubSub

  @testable import PubSub

  /// What two or three threads do at once.
  enum Scenario: String, CaseIterable, Codable, Sendable {
    case cancel = "post ∥ cancel"
    case cancelLabelled = "post ∥ cancel of one that is not plain"
    case cancelOneOfMany = "post ∥ cancel one of three"
    case cancelAndSubscribe = "two posts ∥ cancel, subscribe again"
    case churn = "two posts ∥ subscribe, cancel, subscribe at the end"
    case behindCancelled = "two posts ∥ subscribe what captures nothing, cancel, subscribe, cancel the first"
    case growth = "two posts ∥ subscribe where there is no room, cancel"
    case secondPriority = "post ∥ first second priority, cancel"
    case drain = "post ∥ cancelAndDrain"
    case drainBesideAnother = "post ∥ cancelAndDrain one of two"
    case drainOfTwo = "post ∥ post ∥ cancelAndDrain"
    case twoPosters = "post ∥ post ∥ cancel"
    case twoCancels = "post ∥ cancel ∥ cancel the same"
    case nested = "post with a post inside ∥ cancel"
    case nestedElsewhere = "post with a post on another bus inside ∥ cancel there"
    case later = "two posts, subscribing inside the second ∥ cancel one of three"
    case inner = "post with a post inside, subscribing inside that ∥ cancel one of three"
    case cancelInside = "post, cancelled inside ∥ cancel another"
    case cancelInsideGrowth = "post, another cancelled inside ∥ subscribe where there is no room"
    case subject = "post from a subject ∥ cancel the subject's, subscribe another"
    case firstSubject = "post ∥ first subject, cancel the others"
    case twoSubjects = "post from a subject ∥ first handler of another, whose place is the same"
    case manySubjects = "post from a subject ∥ cancel the subject's, replace the table of subjects twice"
    case newTable = "post from a subject ∥ replace the table of subjects and then the subject's block, cancel"
    case firstPost = "first post of a type ∥ subscribe"
    case threadEnds = "post, end of the thread ∥ post ∥ cancel"
    case twoWriters = "posts on two buses ∥ cancel on one ∥ cancel on the other"
    case housekeepers = "post ∥ post ∥ cancel, subscribe a second priority"
    case busGone = "the bus is let go of ∥ cancel"
    case undelivered = "post to a subscriber to everything ∥ cancel that"
    case tracers = "a tracer is released ∥ first subscription to a type, another tracer, post"
    case reader = "post, post ∥ an iterator is made"
    case readerBesideHandler = "post ∥ post ∥ an iterator is made, cancel a handler"
    case nestedReader = "post with a post inside ∥ an iterator is made"
    case firstReader = "post with a post inside ∥ the first iterator is made"
    case firstReaderOfTwo = "post to two priorities with a post inside ∥ the first iterator is made"
    case sticky = "sticky posts ∥ sticky post, read by two"
    case replay = "sticky post, sticky post ∥ an iterator with replay is made"
    case twoReplays = "sticky post ∥ sticky post ∥ two iterators with replay are made"
    case stickyCancel = "sticky post, read ∥ cancel a handler, whose capture asks for the latest event at its end"
    case nestedSticky = "sticky post with one inside ∥ sticky post, read by two"

    var threads: Int {
      switch self {
      case .drainOfTwo, .twoPosters, .twoCancels, .threadEnds: 3
      case .twoWriters, .housekeepers: 3
      case .readerBesideHandler, .twoReplays: 3
      default: 2
      }
    }

    /// How many times a thread may be stopped that could go on, if nothing else is asked for.
    var preemptions: Int {
      #if TSAN_LOCK
        // There all is ten times as slow, and one order finds what is not ordered at all.
        1
      #else
        switch self {
        case .twoPosters, .twoCancels: 2
        case .manySubjects: 1
        default: threads == 2 ? 2 : 1
        }
      #endif
    }

    func makeWorld() -> World {
      switch self {
      case .nestedElsewhere, .twoWriters: onTwoBuses()
      case .subject, .firstSubject: withSubjects()
      case .twoSubjects: withSubjectsInOnePlace()
      case .manySubjects: withTwoNewTables()
      case .newTable: withNewTableAndBlock()
      case .nested, .cancelInside, .cancelInsideGrowth: withChangesInside()
      case .later, .inner: withSecondPost()
      case .reader, .readerBesideHandler, .nestedReader, .firstReader, .firstReaderOfTwo: withReaders()
      case .sticky, .replay, .twoReplays, .nestedSticky, .stickyCancel: withStickyPosts()
      default: onOneBus()
      }
    }
  }

  extension Scenario {
    private func onOneBus() -> World {
      let world = World()
      if self == .undelivered {
        world.postUndelivered()
        return world
      }
      if self == .tracers {
        world.exchangeTracers()
        return world
      }
      if self == .firstPost {
        world.bodies = [
          {
            world.post(1)
            world.post(2)
          }, { world.subscribe("one") },
        ]
        return world
      }
      let one = world.subscribe("one", isPlain: self != .cancelLabelled)
      let post = { world.post(1) }
      let cancel = { world.cancel(one) }
      switch self {
      case .cancelOneOfMany:
        world.subscribe("two")
        world.subscribe("three")
        world.bodies = [post, cancel]
      case .cancelAndSubscribe:
        world.subscribe("constant")
        world.bodies = [
          {
            world.post(1)
            world.post(2)
          },
          {
            world.cancel(one)
            world.subscribe("again")
          },
        ]
      case .churn:
        world.bodies = [
          {
            world.post(1)
            world.post(2)
          },
          {
            world.cancel(world.subscribe("two"))
            world.subscribe("three")
          },
        ]
      case .behindCancelled:
        world.bodies = [
          {
            world.post(1)
            world.post(2)
          },
          {
            world.comeAndGo()
            world.subscribe("two")
            world.cancel(one)
          },
        ]
      case .growth:
        for name in ["two", "three", "four"] { world.subscribe(name) }
        world.bodies = [
          {
            world.post(1)
            world.post(2)
          },
          {
            world.subscribe("five")
            world.cancel(one)
          },
        ]
      case .secondPriority:
        world.bodies = [
          post,
          {
            world.subscribe("high", .high)
            world.cancel(one)
          },
        ]
      case .drainBesideAnother:
        world.subscribe("two")
        world.bodies = [post, { world.cancelAndDrain(one) }]
      case .drain: world.bodies = [post, { world.cancelAndDrain(one) }]
      case .drainOfTwo: world.bodies = [post, { world.post(2) }, { world.cancelAndDrain(one) }]
      case .twoCancels: world.bodies = [post, cancel, cancel]
      case .threadEnds:
        world.bodies = [
          post,
          {
            world.post(2)
            world.post(3)
          }, cancel,
        ]
      case .housekeepers:
        world.subscribe("constant")
        world.bodies = [
          post, { world.post(2) },
          {
            world.cancel(one)
            world.subscribe("high", .high)
          },
        ]
      case .busGone: world.bodies = [{ world.release(bus: 0) }, cancel]
      case .twoPosters: world.bodies = [post, { world.post(2) }, cancel]
      default: world.bodies = [post, cancel]
      }
      return world
    }

    private func onTwoBuses() -> World {
      let world = World(buses: 2)
      let two = world.subscribe("two", on: 1)
      if self == .nestedElsewhere {
        world.subscribe("one") { world.post(2, on: 1) }
        world.bodies = [{ world.post(1, on: 0) }, { world.cancel(two) }]
        return world
      }
      let one = world.subscribe("one", on: 0)
      world.bodies = [
        {
          world.post(1, on: 0)
          world.post(2, on: 1)
        }, { world.cancel(one) }, { world.cancel(two) },
      ]
      return world
    }

    private func withSubjects() -> World {
      let world = World()
      let subject = Thing()
      let one = world.subscribe("one")
      if self == .firstSubject {
        world.bodies = [
          { world.post(1, from: subject) },
          {
            world.subscribe("the subject's", from: subject)
            world.cancel(one)
          },
        ]
        return world
      }
      let ofSubject = world.subscribe("the subject's", from: subject)
      world.bodies = [
        { world.post(1, from: subject) },
        {
          world.cancel(ofSubject)
          world.subscribe("another of the subject", .high, from: subject)
        },
      ]
      return world
    }

    /// A table of subjects with eight cells, and two subjects that are looked for from the same one on.
    private func withSubjectsInOnePlace() -> World {
      let world = World()
      let things = (0..<9).map { _ in Thing() }
      let table = pubsub_make_table(3)
      defer { pubsub_free(table) }
      func cell(_ thing: Thing) -> UnsafePointer<pubsub_cell> {
        pubsub_first_cell(table, Unmanaged.passUnretained(thing).toOpaque())
      }
      // Nine in eight cells: two share one.
      let shared = Dictionary(grouping: things, by: cell).first { $1.count > 1 }!.value
      world.subscribe("a third one's", from: things.first { cell($0) != cell(shared[0]) } ?? Thing())
      world.bodies = [
        { world.post(1, from: shared[0]) },
        { world.subscribe("the other's", from: shared[1]) },
      ]
      return world
    }

    /// The first table has room for 4 subjects, the second one for 16.
    private func withTwoNewTables() -> World {
      let world = World()
      let things = (0..<17).map { _ in Thing() }
      let first = world.subscribe("the subject's", from: things[0])
      for thing in things[1..<4] { world.subscribe("another's", from: thing) }
      world.bodies = [
        { world.post(1, from: things[0]) },
        {
          world.subscribe("the fifth's", from: things[4])
          world.cancel(first)
          for thing in things[5...] { world.subscribe("another's", from: thing) }
        },
      ]
      return world
    }

    /// The first table has room for 4 subjects, and the subject's block for 4 handlers; the new table alone has the new block.
    private func withNewTableAndBlock() -> World {
      let world = World()
      let things = (0..<5).map { _ in Thing() }
      let one = world.subscribe("one", from: things[0])
      for name in ["two", "three", "four"] { world.subscribe(name, from: things[0]) }
      for thing in things[1..<4] { world.subscribe("another's", from: thing) }
      world.bodies = [
        { world.post(1, from: things[0]) },
        {
          world.subscribe("the fifth's", from: things[4])
          world.subscribe("five", from: things[0])
          world.cancel(one)
        },
      ]
      return world
    }

    /// While the thread that cancels waits for the first post to end, the second may come as far as to wait for the lock.
    private func withSecondPost() -> World {
      let world = World()
      var posts = 1
      let first = world.subscribe("first") {
        guard self == .inner, posts == 1 else { return }
        posts = 2
        world.post(2)
      }
      world.subscribe("second") { if posts == 2 { world.subscribe("inside") } }
      let third = world.subscribe("third")
      world.bodies = [
        {
          world.post(1)
          guard self == .later else { return }
          posts = 2
          world.post(2)
        },
        { world.cancel(self == .inner ? first : third) },
      ]
      return world
    }

    private func withChangesInside() -> World {
      let world = World()
      var isFirst = true
      var all: [World.Watched] = []
      let one = world.subscribe("one") {
        guard isFirst else { return }
        isFirst = false
        switch self {
        case .nested: world.post(2)
        case .cancelInside: world.cancel(all[0])
        default: world.cancel(all[3])
        }
      }
      all = [one] + ["two", "three", "four"].map { world.subscribe($0) }
      world.bodies = [
        { world.post(1) },
        {
          switch self {
          case .nested: world.cancel(one)
          case .cancelInside: world.cancel(all[1])
          default: world.subscribe("five")
          }
        },
      ]
      return world
    }
  }
#endif
