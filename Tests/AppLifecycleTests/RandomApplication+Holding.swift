import AppLifecycle
import AppLifecycleTesting
import PubSub
import Scheduling

/// A resource as the program sees it: what was done with it in the present process.
@MainActor final class RandomResource {
  enum Status: Hashable { case idle, acquiring, held, releasing }

  let name: String
  /// Its own phase, or the narrowest of those that it depends on.
  let phase: LifecyclePhase
  let dependencies: [RandomResource]
  var dependents: [RandomResource] = []
  var status = Status.idle
  /// Names the handle that is held.
  var number = 0
  /// Whether it was reported as late: if its phase has closed, what it depends on does not wait for it, up to the end of
  /// its next release.
  var isLate = false

  init(_ name: String, while phase: LifecyclePhase, after dependencies: [RandomResource]) {
    (self.name, self.phase, self.dependencies) = (name, phase, dependencies)
    for dependency in dependencies { dependency.dependents.append(self) }
  }

  struct Handle {
    let process: Int
    let number: Int
  }
}

/// One call of `run(while:)`, made anew when it has ended.
@MainActor final class RandomBody {
  let name: String
  let phase: LifecyclePhase
  /// The process in which the body runs that runs now.
  var process: Int?
  /// Whether the run was reported as late, so that nothing waits for it.
  var isLate = false
  var caller: Task<Void, Never>?

  init(_ name: String, while phase: LifecyclePhase) { (self.name, self.phase) = (name, phase) }
}

extension LifecyclePhase {
  /// From the widest to the narrowest.
  fileprivate var rank: Int {
    switch self {
    case .running: 0
    case .foreground: 1
    case .active: 2
    }
  }

  fileprivate func holds(in state: ApplicationState) -> Bool {
    switch self {
    case .running: state.isInMemory
    // It opens with willEnterForeground, before the state changes.
    case .foreground: state.isForeground
    case .active: state == .active
    }
  }
}

// MARK: - Resources

extension RandomApplication {
  func manageResources() throws {
    for index in 0..<chance.number(2..<7) {
      let dependencies = resources.filter { _ in chance.once(in: 3) }
      let own = chance.pick(LifecyclePhase.allCases)
      let phase = dependencies.reduce(own) { $0.rank > $1.phase.rank ? $0 : $1.phase }
      let resource = RandomResource("resource \(index)", while: phase, after: dependencies)
      resources.append(resource)
      try application.manage(resource.name, while: own, after: dependencies.map(\.name)) { [unowned self] in
        try await acquire(resource)
      } release: { [unowned self] handle in
        try await release(resource, handle)
      }
    }
  }

  private func acquire(_ resource: RandomResource) async throws -> RandomResource.Handle {
    let process = process
    if resource.status != .idle { fault("\(resource.name) is acquired while \(resource.status)") }
    if !resource.phase.holds(in: application.state) { fault("\(resource.name) is acquired in \(application.state)") }
    for other in resource.dependencies where other.status != .held {
      fault("\(resource.name) is acquired while \(other.name) is \(other.status)")
    }
    resource.status = .acquiring
    do {
      try await work("acquire \(resource.name)")
    } catch {
      note("failed to acquire \(resource.name)")
      count("failed acquires")
      if process == self.process { (resource.status, resource.isLate) = (.idle, false) }
      throw error
    }
    note("acquired \(resource.name)")
    count("acquires")
    guard process == self.process else { return RandomResource.Handle(process: process, number: -1) }
    resource.status = .held
    resource.number += 1
    return RandomResource.Handle(process: process, number: resource.number)
  }

  private func release(_ resource: RandomResource, _ handle: RandomResource.Handle) async throws {
    let process = process
    if handle.process != process { fault("\(resource.name) of a lost process is released") }
    if resource.status != .held { fault("\(resource.name) is released while \(resource.status)") }
    if resource.number != handle.number { fault("\(resource.name) is released with a stale handle") }
    for other in resource.dependents where other.status != .idle {
      if other.isLate {
        count("releases without a late dependent")
        continue
      }
      fault("\(resource.name) is released while \(other.name) is \(other.status)")
    }
    for body in bodies where body.phase.rank >= resource.phase.rank && body.process == process && !body.isLate {
      fault("\(resource.name) is released while \(body.name) runs")
    }
    resource.status = .releasing
    defer { if process == self.process { (resource.status, resource.isLate) = (.idle, false) } }
    try await work("release \(resource.name)")
    note("released \(resource.name)")
    count("releases")
  }

  /// What holds whenever nothing is under way.
  func checkRest() {
    guard !application.state.isForeground else { return }
    for resource in resources where resource.phase != .running && resource.status != .idle {
      fault("\(resource.name) is \(resource.status) at rest in \(application.state)")
    }
    for body in bodies where body.phase != .running && body.process == process && !body.isLate {
      fault("\(body.name) runs at rest in \(application.state)")
    }
  }
}

// MARK: - Bodies

extension RandomApplication {
  func startBodies() {
    for index in 0..<chance.number(0..<4) {
      let body = RandomBody("body \(index)", while: chance.pick(LifecyclePhase.allCases))
      bodies.append(body)
      start(body)
    }
  }

  /// The caller of some body is cancelled; it calls anew at once.
  func restartSomeBody() {
    guard let body = bodies.isEmpty ? nil : chance.pick(bodies) else { return }
    body.caller?.cancel()
    start(body)
  }

  private func start(_ body: RandomBody) {
    let former = body.caller
    body.caller = tasks.start { [weak self] in
      await former?.value
      while !Task.isCancelled { await self?.call(body) }
    }
  }

  private func call(_ body: RandomBody) async {
    do {
      try await application.run(while: body.phase, label: body.name) { [unowned self] in try await run(body) }
    } catch {
      note("\(body.name): \(error)")
    }
  }

  private func run(_ body: RandomBody) async throws {
    let process = process
    if body.process == process { fault("\(body.name) overlaps with itself") }
    if !body.phase.holds(in: application.state) { fault("\(body.name) begins in \(application.state)") }
    count("bodies")
    (body.process, body.isLate) = (process, false)
    defer { if body.process == process { body.process = nil } }
    note("\(body.name) begins")
    if !isCalm, chance.once(in: 6) {
      // One that ends by itself, in order or not; never at once, lest its caller spin.
      try await clock.sleep(for: .milliseconds(chance.number(1..<2_000)))
      if chance.once(in: 2) { throw Failure() }
    } else {
      try? await clock.sleep(for: .seconds(1_000_000_000))
      try await work("\(body.name) is told to end")
    }
    note("\(body.name) ends")
  }
}
