import AppLifecycle

/// The life cycle as a diagram: its states, and each single change from one to the next.
///
/// An input may take an application through several states; the diagram shows each change by itself, with the calls that belong to it.
struct StateDiagram: Equatable {
  /// One change of state.
  struct Change: Hashable {
    var from: String
    var to: String
    /// The callbacks before the commit, and after it.
    var before: [String] = []
    var after: [String] = []
    /// The process vanishes: nothing is called and nothing is released.
    var losesProcess = false
    /// The inputs, by their script tokens, that lead to it from some state.
    var inputs: [String] = []
  }

  /// A callback that changes no state.
  struct Call: Hashable {
    var state: String
    var callback: String
    var inputs: [String] = []
  }

  /// The subject of the states: the application or a scene.
  let subject: String
  let states: [String]
  private(set) var changes: [Change] = []
  private(set) var calls: [Call] = []

  /// The diagram of the application.
  static func application(_ graph: StateGraph) -> StateDiagram {
    var diagram = StateDiagram(subject: "application", states: ApplicationState.allCases.map(\.rawValue))
    diagram.fill(graph) {
      $0.state.rawValue
    } step: { effect in
      switch effect {
      case .commit(let state): .commit(state.rawValue)
      case .call(let callback), .post(let callback): .callback(callback.shortName, callback.commitOrder)
      case .loseProcess: .loseProcess
      default: nil
      }
    }
    return diagram
  }

  /// The diagram of one scene.
  static func scene(_ graph: StateGraph, _ id: SceneIdentifier) -> StateDiagram {
    var diagram = StateDiagram(subject: "scene", states: SceneState.allCases.map(\.rawValue))
    diagram.fill(graph) {
      $0.state(of: id).rawValue
    } step: { effect in
      switch effect {
      case .commitScene(id, let state): .commit(state.rawValue)
      case .callScene(id, let callback): .callback(callback.rawValue, callback.commitOrder)
      default: nil
      }
    }
    return diagram
  }

  /// The meaning of an effect for the subject.
  private enum Step {
    case commit(String)
    case callback(String, CommitOrder)
    case loseProcess
  }

  private init(subject: String, states: [String]) { (self.subject, self.states) = (subject, states) }

  private mutating func fill(
    _ graph: StateGraph, state: (LifecycleStateMachine) -> String, step: (StateGraph.Effect) -> Step?
  ) {
    for (index, input) in graph.inputs.enumerated() {
      for (machine, steps) in zip(graph.states, graph.steps) {
        let effects = graph.effects[steps[index].effects].compactMap(step)
        add(effects, from: state(machine), by: input.scriptToken)
      }
    }
    let order = Dictionary(uniqueKeysWithValues: states.enumerated().map { ($1, $0) })
    func place(_ change: Change) -> [Int] {
      [order[change.from] ?? 0, order[change.to] ?? 0, change.losesProcess ? 1 : 0]
    }
    changes.sort { place($0).lexicographicallyPrecedes(place($1)) }
    calls.sort { (order[$0.state] ?? 0, $0.callback) < (order[$1.state] ?? 0, $1.callback) }
  }

  private mutating func add(_ steps: [Step], from start: String, by input: String) {
    var state = start
    var change = Change(from: start, to: start)
    var found: [Change] = []
    for step in steps {
      switch step {
      case .loseProcess: change.losesProcess = true
      case .callback(let name, .callbackFirst): change.before.append(name)
      case .callback(let name, .commitFirst) where !found.isEmpty: found[found.count - 1].after.append(name)
      case .callback(let name, _): add(Call(state: state, callback: name), by: input)
      case .commit(let next):
        (change.from, change.to, state) = (state, next, next)
        found.append(change)
        change = Change(from: next, to: next)
      }
    }
    for change in found { add(change, by: input) }
  }

  private mutating func add(_ change: Change, by input: String) {
    let index = changes.firstIndex { known in
      var known = known
      known.inputs = []
      return known == change
    }
    guard let index else {
      changes.append(change)
      changes[changes.count - 1].inputs = [input]
      return
    }
    if changes[index].inputs.last != input { changes[index].inputs.append(input) }
  }

  private mutating func add(_ call: Call, by input: String) {
    guard let index = calls.firstIndex(where: { $0.state == call.state && $0.callback == call.callback }) else {
      calls.append(Call(state: call.state, callback: call.callback, inputs: [input]))
      return
    }
    if calls[index].inputs.last != input { calls[index].inputs.append(input) }
  }
}
