import Scheduling

@testable import EventLink

/// Processes, links and brokers without threads and time: a generator decides what happens next.
///
/// Messages in transit keep their order within a topic only, and are lost with their connection.
struct LinkWorld {
  /// One link of one process, with what is in transit between it and its broker.
  struct Line {
    let process: Int
    let lane: LinkMachine.LinkID
    let broker: Int
    var isUp = false
    var toBroker: [(message: LinkMessage, number: UInt64)] = []
    var toProcess: [LinkTransportEvent] = []
  }

  struct Process {
    var machine: LinkMachine
    /// What was posted here: the events of others, in order, as `origin topic number`.
    var posted: [Arrival] = []
    /// What the bus has had as the latest sticky event, from the first to the present one; nil stands for none.
    var latest: [Arrival?] = []
    var sent: [String: Int] = [:]
    var dropped: [String: Int] = [:]
  }

  enum Arrival: Equatable {
    case event(origin: String, topic: String, number: Int)
    case missed(origin: String, topic: String, count: Int)
  }

  static let careful = "careful"
  static let careless = "careless"
  static let sticky = "sticky"

  var processes: [Process] = []
  var lines: [Line] = []
  var retained: [[String: LinkMessage]]
  /// What one broker has not handed to the others yet.
  var bridged: [[LinkMessage]]
  var areUp: [Bool]
  /// Whether a connection has ended.
  var hasCut = false
  var now = Duration.zero
  var random: SplitMix64
  let topics = [careful, careless, sticky]

  init(seed: UInt64, processes count: Int, brokers: Int, limits: LinkMachine.Limits) {
    random = SplitMix64(seed: seed)
    (retained, bridged) = (Array(repeating: [:], count: brokers), Array(repeating: [], count: brokers))
    areUp = Array(repeating: true, count: brokers)
    let ofSticky = Bool.random(using: &random) ? LinkQuality.atLeastOnce : .atMostOnce
    for number in 0..<count {
      var machine = LinkMachine(origin: "process-\(number)", limits: limits)
      let carried = topics.map {
        let quality = $0 == Self.careless ? .atMostOnce : $0 == Self.sticky ? ofSticky : .atLeastOnce
        return machine.addTopic($0, type: $0, quality: quality, isSticky: $0 == Self.sticky)
      }
      // The first process has a link to each broker, or two to the only one.
      let first = brokers == 1 ? [0, 0] : Array(0..<brokers)
      for (lane, broker) in (number == 0 ? first : [number % brokers]).enumerated() {
        machine.addLink(lane, carrying: carried)
        lines.append(Line(process: number, lane: lane, broker: broker))
      }
      processes.append(Process(machine: machine))
    }
  }

  // MARK: Steps

  mutating func post(_ topic: String, by process: Int) {
    let number = (processes[process].sent[topic] ?? 0) + 1
    processes[process].sent[topic] = number
    let id = topics.firstIndex(of: topic) ?? 0
    if topic == Self.sticky {
      let origin = processes[process].machine.origin
      processes[process].latest.append(.event(origin: origin, topic: topic, number: number))
    }
    processes[process].machine.send(.data(Array("\(number)".utf8)), number: number, on: id)
    perform(process)
  }

  /// Removes the latest sticky event for all.
  mutating func removeLatest(by process: Int) {
    let number = (processes[process].sent[Self.sticky] ?? 0) + 1
    processes[process].sent[Self.sticky] = number
    processes[process].latest.append(nil)
    processes[process].machine.send(.removal, number: number, on: topics.firstIndex(of: Self.sticky) ?? 0)
    perform(process)
  }

  mutating func connect(_ line: Int) {
    guard areUp[lines[line].broker], !lines[line].isUp else { return }
    lines[line].isUp = true
    (lines[line].toBroker, lines[line].toProcess) = ([], [])
    for message in retained[lines[line].broker].values.sorted(by: { $0.topic < $1.topic }) {
      lines[line].toProcess.append(.received(message))
    }
    // What is retained may come before the confirmation of the subscriptions, or of the last one, has been handled.
    if Bool.random(using: &random) { while !lines[line].toProcess.isEmpty { move(line) } }
    let (process, lane) = (lines[line].process, lines[line].lane)
    processes[process].machine.didConnect(lane, 1, at: now)
    perform(process)
  }

  mutating func cut(_ line: Int) {
    guard lines[line].isUp else { return }
    (lines[line].isUp, hasCut) = (false, true)
    (lines[line].toBroker, lines[line].toProcess) = ([], [])
    let (process, lane) = (lines[line].process, lines[line].lane)
    processes[process].machine.didDisconnect(lane, 1, at: now)
    perform(process)
  }

  /// Ends a broker with all that is in it, but for what it keeps on its disk.
  mutating func end(_ broker: Int) {
    areUp[broker] = false
    bridged[broker] = []
    for line in lines.indices where lines[line].broker == broker { cut(line) }
  }

  /// Takes one message of a line, the first of its topic, to the broker or from it.
  mutating func move(_ line: Int) {
    let takesToBroker = lines[line].toProcess.isEmpty || !lines[line].toBroker.isEmpty && Bool.random(using: &random)
    if takesToBroker {
      guard let place = firstOfItsTopic(lines[line].toBroker.map(\.message.topic)) else { return }
      let (message, number) = lines[line].toBroker.remove(at: place)
      route(message, to: lines[line].broker)
      bridged[lines[line].broker].append(message)
      lines[line].toProcess.append(.acknowledged(number))
    } else {
      let topics = lines[line].toProcess.map { event in
        if case .received(let message) = event { message.topic } else { "" }
      }
      guard let place = firstOfItsTopic(topics) else { return }
      let event = lines[line].toProcess.remove(at: place)
      let (process, lane) = (lines[line].process, lines[line].lane)
      switch event {
      case .received(let message):
        processes[process].machine.receive(
          message, isSticky: message.topic == Self.sticky, by: lane, at: now)
      case .acknowledged(let number): processes[process].machine.didAcknowledge([number], by: lane)
      case .closed: break
      }
      perform(process)
    }
  }

  private mutating func firstOfItsTopic(_ topics: [String]) -> Int? {
    guard let topic = topics.randomElement(using: &random) else { return nil }
    return topics.firstIndex(of: topic)
  }

  /// Hands what came to a broker to the others.
  mutating func bridge() {
    for broker in bridged.indices {
      for message in bridged[broker] {
        for other in bridged.indices where other != broker && areUp[other] { route(message, to: other) }
      }
      bridged[broker] = []
    }
  }

  private mutating func route(_ message: LinkMessage, to broker: Int) {
    if message.isRetained { retained[broker][message.topic] = message.payload.isEmpty ? nil : message }
    for line in lines.indices where lines[line].broker == broker && lines[line].isUp {
      let machine = processes[lines[line].process].machine
      guard topics.contains(message.topic) || message.topic == LinkMachine.requestTopic(of: machine.origin) else {
        continue
      }
      lines[line].toProcess.append(.received(message))
    }
  }

  mutating func pass(_ time: Duration) {
    now += time
    for process in processes.indices {
      processes[process].machine.timeDidPass(now)
      perform(process)
    }
  }

  private mutating func perform(_ process: Int) {
    for output in processes[process].machine.takeOutputs() {
      switch output {
      case .send(let message, let number, let lane):
        guard let line = lines.firstIndex(where: { $0.process == process && $0.lane == lane && $0.isUp }) else { break }
        lines[line].toBroker.append((message, number))
      case .post(let topic, let payload):
        guard let event = try? CloudEvent(payload), let number = event.number else { break }
        let arrival = Arrival.event(origin: event.source, topic: topic, number: number)
        processes[process].posted.append(arrival)
        if topic == Self.sticky { processes[process].latest.append(arrival) }
      case .missed(let topic, let origin, let count):
        processes[process].posted.append(.missed(origin: origin, topic: topic, count: count))
      case .dropped(let topic, let count, _): processes[process].dropped[topics[topic], default: 0] += count
      case .removeLatest: processes[process].latest.append(nil)
      case .acknowledged, .rejected, .idle: break
      }
    }
  }

  /// Mends everything, and plays until nothing is in transit any more.
  mutating func settle() {
    for broker in areUp.indices { areUp[broker] = true }
    for line in lines.indices { connect(line) }
    var turns = 0
    while turns < 4 {
      while let line = lines.indices.filter({ !lines[$0].toBroker.isEmpty || !lines[$0].toProcess.isEmpty })
        .randomElement(using: &random)
      {
        move(line)
        bridge()
      }
      bridge()
      guard lines.allSatisfy({ $0.toProcess.isEmpty && $0.toBroker.isEmpty }) else { continue }
      pass(.seconds(31))
      turns += 1
    }
  }
}
