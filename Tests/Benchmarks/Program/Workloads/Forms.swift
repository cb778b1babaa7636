import BenchmarkHarness

extension Section {
  /// Posts to 100 subscribers, once for each form of subscribing.
  static func forms(_ scale: Scale) -> Section {
    Section(
      name: "forms", title: "Posting to 100 subscribers of each form, ns a post", rounds: scale.rounds,
      judgements: ownerForms.flatMap(ownerBounds) + [
        limit(Column.floor, .throwing, 2.5, aim: 1.5), limit(Column.floor, .twoPriorities, 2.5, aim: 1.5),
        // The compiler puts a function of its own between the bus and such a closure: two calls, and what the first one moves.
        limit(Column.floor, .value, 3, aim: 2.2), limit(Column.floor, .byName, 8, aim: 4),
        limit(Column.floor, .wildcard, 8, aim: 4), limit(Column.floor, .sticky, 2, aim: 1.2),
      ]
    ) {
      ownerForms.flatMap { ownerContestants($0, scale) } + otherForms.flatMap { formContestants($0, scale) }
    }
  }
}

private let count = 100
private let ownerForms = [Form.owner, .ownerOnMainActor]
private let otherForms = [
  Form.plainOnMainActor, .throwing, .twoPriorities, .value, .sticky, .byName, .wildcard, .subject,
]

/// What an owner's handler is compared with: the direct build retains an owner, the portable one loads a weak reference.
private let ownerFloor = Build.isPortable ? Column.weak : Column.retain

private func limit(_ reference: String, _ form: Form, _ bound: Double, aim: Double) -> Judgement {
  let row = form.name
  return Judgement(row, "× \(reference)", .atMost, bound, aim: aim) { $0.ratio(row, Column.ours, to: reference) }
}

private func ownerBounds(_ form: Form) -> [Judgement] {
  let row = form.name
  let fromFoundation = Judgement(row, "× as \(Column.foundation)", .atLeast, 5, aim: 8) {
    $0.ratio(row, Column.foundation, to: Column.ours)
  }
  // A weak load alone takes a good part of what Foundation takes for a delivery.
  return [limit(ownerFloor, form, 1.5, aim: 1.15)] + (Build.isPortable ? [] : [fromFoundation])
}

/// Each contestant has owners of its own: a weak reference to an owner would slow its counting down for all the others.
private func ownerContestants(_ form: Form, _ scale: Scale) -> [Contestant] {
  func contestant(_ column: String, _ subscribe: (CounterBank) -> (Int) -> Void) -> Contestant {
    let owners = CounterBank(count)
    return Contestant(
      column, row: form.name, slice: scale.slice, deliveries: count, total: { owners.total }, repeat: subscribe(owners))
  }
  return [
    contestant(Column.floor) { Poster.floor(.counting($0))!.post },
    contestant(Column.retain) { OwnerFloor($0).post },
    contestant(Column.weak) { WeakFloor($0).post },
    contestant(Column.ours, form.subscribe),
    contestant(Column.foundation) { Poster.foundation(.counting($0)).post },
    contestant(Column.foundationOwners) { Poster.foundation(.owning($0)).post },
  ]
}

private func formContestants(_ form: Form, _ scale: Scale) -> [Contestant] {
  let bank = CounterBank(count)
  func contestant(_ column: String, _ post: @escaping (Int) -> Void) -> Contestant {
    Contestant(
      column, row: form.name, slice: scale.slice, deliveries: count, total: { bank.total }, repeat: post)
  }
  return [contestant(Column.floor, Poster.floor(.counting(bank))!.post), contestant(Column.ours, form.subscribe(bank))]
}
