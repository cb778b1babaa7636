#if canImport(SwiftUI)
  public import AppLifecycle
  public import SwiftUI

  extension ScenePhase {
    /// The phase that SwiftUI calls a state of the application.
    ///
    /// An application that is not running or is suspended has none that SwiftUI could show: it counts as in the background.
    public init(_ state: ApplicationState) {
      switch state {
      case .active: self = .active
      case .inactive: self = .inactive
      case .background, .suspended, .notRunning: self = .background
      }
    }

    /// The phase that SwiftUI calls a state of a scene.
    public init(_ state: SceneState) {
      switch state {
      case .foregroundActive: self = .active
      case .foregroundInactive: self = .inactive
      case .background, .unattached: self = .background
      }
    }
  }

  extension ApplicationState {
    /// The state that a phase of SwiftUI is.
    public init(_ phase: ScenePhase) {
      switch phase {
      case .active: self = .active
      case .inactive: self = .inactive
      default: self = .background
      }
    }
  }

  extension SceneState {
    /// The state that a phase of SwiftUI is.
    public init(_ phase: ScenePhase) {
      switch phase {
      case .active: self = .foregroundActive
      case .inactive: self = .foregroundInactive
      default: self = .background
      }
    }
  }
#endif
