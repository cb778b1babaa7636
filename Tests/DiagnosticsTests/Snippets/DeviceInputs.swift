import AppLifecycle

@MainActor func end(_ application: Application) async {
  #if CURED
    application.send(.terminate)
    application.shutDown(status: 1)
    await application.handle(.shutDown)
  #else
    // expect error: type 'SystemInput' has no member 'crash'
    application.send(.crash)
    // expect error: type 'SystemInput' has no member 'killFromSwitcher'
    application.send(.killFromSwitcher)
    // expect error: type 'SystemInput' has no member 'reboot'
    await application.handle(.reboot)
  #endif
}
