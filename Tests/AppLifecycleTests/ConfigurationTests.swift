import AppLifecycle
import AppLifecycleTesting
import Testing

/// The configuration that an application and a simulated system have without being given one.
@Suite @MainActor struct `The configuration of an application` {
  private final class OwnDelegate: ApplicationDelegate {
    static var configuration: Application.Configuration {
      var configuration = Application.Configuration()
      configuration.willTerminateBudget = .seconds(20)
      configuration.profile = .scenes
      return configuration
    }
  }

  private final class PlainDelegate: ApplicationDelegate {}

  @Test func `is that of the type of its delegate`() {
    #expect(Application(delegate: OwnDelegate()).configuration.willTerminateBudget == .seconds(20))
    #expect(Application(delegate: PlainDelegate()).configuration.willTerminateBudget == .seconds(5))
    let delegate: any ApplicationDelegate = OwnDelegate()
    #expect(Application(delegate: delegate).configuration.profile == .scenes)
  }

  @Test func `is the one that is passed, if one is`() {
    var configuration = Application.Configuration()
    configuration.willTerminateBudget = .seconds(7)
    #expect(
      Application(delegate: OwnDelegate(), configuration: configuration).configuration.willTerminateBudget
        == .seconds(7))
    let system = SimulatedSystem(profile: .application, configuration: configuration) { OwnDelegate() }
    #expect(system.application.configuration.willTerminateBudget == .seconds(7))
    #expect(system.application.configuration.profile == .application)
  }

  @Test func `is that of the delegate in a simulation, but for the profile that is passed`() {
    #expect(SimulatedSystem { OwnDelegate() }.application.configuration.willTerminateBudget == .seconds(20))
    #expect(SimulatedSystem { OwnDelegate() }.application.configuration.profile == .scenes)
    let system = SimulatedSystem(profile: .application) { OwnDelegate() }
    #expect(system.application.configuration.profile == .application)
    #expect(system.application.configuration.willTerminateBudget == .seconds(20))
    #expect(SimulatedSystem().application.configuration.willTerminateBudget == .seconds(5))
  }
}
