#if canImport(SwiftUI)
  public import AppLifecycle
  public import SwiftUI

  extension ScenePhase {
    /// Makes the phase of SwiftUI that corresponds to a state of the application.
    ///
    /// SwiftUI has no phase for an application that is not running or is suspended; it counts as in the background.
    ///
    /// - Parameter state: the state of the application.
    public init(_ state: ApplicationState) {
      switch state {
      case .active: self = .active
      case .inactive: self = .inactive
      case .background, .suspended, .notRunning: self = .background
      }
    }

    /// Makes the phase of SwiftUI that corresponds to a state of a scene.
    ///
    /// - Parameter state: the state of the scene.
    public init(_ state: SceneState) {
      switch state {
      case .foregroundActive: self = .active
      case .foregroundInactive: self = .inactive
      case .background, .unattached: self = .background
      }
    }
  }

  extension ApplicationState {
    /// Makes the state that corresponds to a phase of SwiftUI.
    ///
    /// - Parameter phase: the phase of SwiftUI.
    public init(_ phase: ScenePhase) {
      switch phase {
      case .active: self = .active
      case .inactive: self = .inactive
      default: self = .background
      }
    }
  }

  extension SceneState {
    /// Makes the state that corresponds to a phase of SwiftUI.
    ///
    /// - Parameter phase: the phase of SwiftUI.
    public init(_ phase: ScenePhase) {
      switch phase {
      case .active: self = .foregroundActive
      case .inactive: self = .foregroundInactive
      default: self = .background
      }
    }
  }
#endif
