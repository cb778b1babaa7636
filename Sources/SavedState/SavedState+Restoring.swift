package import AppLifecycle
internal import LifecycleJournal
internal import PubSub
internal import Scheduling

extension SavedState: StateKeeper {
  package func restore() {
    guard outcome == nil, let application else { return }
    let delegate = application.delegate as? any SavedStateDelegate
    let outcome = restoration(asking: delegate, of: application)
    self.outcome = outcome
    application.stateWitness?.didRestore(outcome.find)
    restoreValues()
    saving.mayBeDue()
    if let delegate {
      application.callDelegate("applicationDidRestoreState") {
        delegate.application(application, didRestoreState: outcome)
      }
    }
    // In the background, or restored late, no activation need follow that would begin the settling.
    if application.present.state != .inactive { beginSettling() }
  }

  package func saveBeforeLeaving(_ completion: @escaping @MainActor () -> Void) {
    saving.request { _ in completion() }
  }

  package func saveAtOnce() { saving.performAtOnce() }

  package func sessionDidEnd(_ identifier: SceneIdentifier, endsProcess: Bool) {
    dropValues(of: identifier.rawValue)
    saving.sessionDidEnd(identifier.rawValue, endsProcess: endsProcess)
    application?.stateWitness?.didForget(identifier.rawValue)
  }

  package func processDidEnd() {
    // The program may hold this object longer than its process lives: it must note nothing of the next one.
    settling = nil
    for subscription in subscriptions { subscription.cancel() }
    subscriptions = []
    saving.processDidEnd()
    storage.close()
  }

  /// The files of a program's state.
  static func files(of program: String, _ configuration: Configuration) -> any StateStorage {
    let directory =
      // An empty one mostly comes from a variable that is not set. It does not mean the present directory.
      configuration.directory.flatMap { $0.isEmpty ? nil : SystemFiles.absolute($0) }
      ?? StatePlace.directory(of: program, variable: Environment.variable)
    return directory.map { StateFiles(in: $0, configuration) } ?? NoStorage()
  }

  // MARK: Restoring

  private func restoration(
    asking delegate: (any SavedStateDelegate)?, of application: Application
  ) -> RestorationOutcome {
    do throws(StateStorageError) {
      let opening = try storage.open()
      if !opening.mayReplace { obstacle = .notKept(reason: "another process keeps the state") }
      if opening.hasCrashedAfterRestoring, opening.mayReplace {
        let outcome = setAsideAfterCrash()
        // Dealt with, also if this process saves nothing: the user may rename the file back.
        if obstacle == nil, delayed.isEmpty { storage.note(.settled) }
        if let outcome { return outcome }
      }
    } catch {
      if error.kind == .foreign { return leaveAlone("\(error.place): \(error.reason)") }
      // Without its lock the state can still be read.
      report(.notWritten(path: error.place, reason: error.reason))
    }
    switch find() {
    case .nothing: return .nothingThere
    case .foreign(let reason): return leaveAlone(reason)
    case .unread(let generation, let error):
      let reason = "\(error.place): \(error.reason)"
      delayed.append(DelayedSetAside(generation: generation, kind: .unread, reason: reason))
      report(.notRead(path: error.place, reason: error.reason))
      return .unreadable(reason: reason)
    case .document(let document, let outcome):
      let isWanted =
        delegate.map { delegate in
          application.callDelegate("applicationShouldRestoreState") {
            delegate.applicationShouldRestoreState(application)
          }
        } ?? true
      guard isWanted else { return .refused }
      contents = SavedContents(document)
      application.restoreSessions(document.sessions.map { SceneIdentifier(rawValue: $0) })
      let open = Set(application.openSessions.map(\.identifier.rawValue))
      // Windows that were closed before the state was first used.
      for session in document.sessions where !open.contains(session) {
        saving.sessionDidEnd(session, endsProcess: false)
      }
      storage.note(.restored)
      hasSettled = false
      return outcome
    case .damaged(let outcome): return outcome
    }
  }

  private enum Found {
    case nothing
    case document(StateDocument, RestorationOutcome)
    case damaged(RestorationOutcome)
    case foreign(String)
    case unread(StateGeneration, StateStorageError)
  }

  /// Reads the state or, if it is missing or damaged, the generation before.
  private func find() -> Found {
    var damage: (path: String, reason: String)?
    var unread: String?
    for generation in StateGeneration.allCases {
      let reason: String
      do {
        guard let bytes = try storage.read(generation) else { continue }
        let document = try StateDocument(bytes, of: program)
        return .document(
          document, damage.map { .setAside(path: $0.path, reason: $0.reason, usesPrevious: true) } ?? .restored)
      } catch let error as StateDocument.Problem {
        if case .foreign(let text) = error { return .foreign(text) }
        reason = Self.text(of: error)
      } catch let error as StateStorageError {
        switch error.kind {
        case .foreign: return .foreign("\(error.place): \(error.reason)")
        case .failed: return .unread(generation, error)
        case .damaged: reason = error.reason
        }
      } catch { reason = Self.text(of: error) }
      // A process that only reads leaves everything as it is.
      guard obstacle == nil else {
        report(.notRead(path: generation == .current ? "saved-state" : "saved-state.previous", reason: reason))
        unread = unread ?? reason
        continue
      }
      let path = setAside(generation, as: .damaged, because: reason)
      damage = damage ?? (path, reason)
    }
    if let unread { return .damaged(.unreadable(reason: unread)) }
    return damage.map { .damaged(.setAside(path: $0.path, reason: $0.reason, usesPrevious: false)) } ?? .nothing
  }

  private func leaveAlone(_ reason: String) -> RestorationOutcome {
    let error = SavedStateError.notKept(reason: reason)
    obstacle = error
    report(error)
    return .leftAlone(reason: reason)
  }

  /// Sets both generations aside, because the process that had restored one of them crashed; returns nil if there are none.
  private func setAsideAfterCrash() -> RestorationOutcome? {
    let reason = "the process that had restored it crashed before it had been up for \(configuration.settlingTime)"
    var path: String?
    for generation in StateGeneration.allCases {
      do {
        guard let bytes = try storage.read(generation) else { continue }
        _ = try StateDocument(bytes, of: program)
      } catch let error as StateStorageError where error.kind == .foreign {
        return leaveAlone("\(error.place): \(error.reason)")
      } catch StateDocument.Problem.foreign(let reason) {
        return leaveAlone(reason)
      } catch {
        // Whatever it is, it is not used again.
      }
      let name = setAside(generation, as: .crashed, because: reason, reports: path == nil)
      path = path ?? name
    }
    return path.map { .setAside(path: $0, reason: reason, usesPrevious: false) }
  }

  /// Sets a generation aside, and reports it; returns its new name, or the old one if the next save has to try again.
  private func setAside(
    _ generation: StateGeneration, as kind: SetAsideReason, because reason: String, reports: Bool = true
  ) -> String {
    do throws(StateStorageError) {
      let path = try storage.setAside(generation, as: kind)
      if reports { report(.setAside(path: path, reason: reason)) }
      return path
    } catch {
      delayed.append(DelayedSetAside(generation: generation, kind: kind, reason: reason))
      report(.notWritten(path: error.place, reason: error.reason))
      return error.place
    }
  }

  // MARK: Crashes

  /// Notes when the application has been active for long enough that a crash is not its state's fault, and saves when it resigns active.
  func followActivity(of application: Application) {
    subscriptions = [
      application.bus.subscribe(to: Application.DidBecomeActive.self, for: self, from: application) { state, _ in
        state.didBecomeActive()
      },
      application.bus.subscribe(to: Application.WillResignActive.self, for: self, from: application) { state, _ in
        state.settling = nil
        state.saving.requestIfChanged()
      },
      application.bus.subscribe(to: Application.Scene.WillConnect.self, for: self) { state, _ in
        state.saving.mayBeDue()
      },
    ]
  }

  /// Begins the settling anew: what has done no harm in the background may do some in the foreground.
  private func didBecomeActive() {
    if hasSettledInBackground {
      (hasSettled, hasSettledInBackground) = (false, false)
      storage.note(.restored)
    }
    beginSettling()
  }

  private func beginSettling() {
    guard !hasSettled, let application else { return }
    settling = StateTimer(after: configuration.settlingTime, of: application) { [weak self] _ in
      guard let self else { return }
      hasSettled = true
      hasSettledInBackground = application.present.state != .active
      settling = nil
      storage.note(.settled)
    }
  }
}

extension RestorationOutcome {
  /// The outcome for a witness in a simulation.
  fileprivate var find: StateFind {
    switch self {
    case .restored, .nothingThere, .setAside(_, _, usesPrevious: true): .used
    case .refused: .refused
    case .setAside, .unreadable, .leftAlone: .unusable
    }
  }
}

/// State that could not be set aside when it was found, and must not be replaced before.
struct DelayedSetAside: Sendable {
  let generation: StateGeneration
  let kind: SetAsideReason
  let reason: String
}
