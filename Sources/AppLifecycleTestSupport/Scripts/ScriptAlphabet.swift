/// The actions from which the script checks make their scripts.
///
/// An alphabet is a script that contains each action once. It may contain every action of the article *The script
/// language* in the documentation of `AppLifecycleTesting`: `task:begin:upload`, `scene:open:left`,
/// `slow:didEnterBackground:1s`. An action of your own, `do:type`, is added to the system with `addAction`:
///
///     let alphabet = "\(ScriptAlphabet.standard) do:type"
///     try await checkAllScripts(upTo: 4, alphabet: alphabet) { run in
///       let system = SimulatedSystem(order: run.order) { AppDelegate() }
///       system.addAction("type") { [unowned system] in
///         (system.application.delegate as? AppDelegate)?.editor?.text += "a"
///       }
///       return system
///     }
public enum ScriptAlphabet {
  /// The actions that affect every application: launch, leaving and returning, interruptions, the lock, suspension, the
  /// end.
  ///
  /// `wait:6s` is longer than an application without background tasks stays awake in the background.
  public static let standard = "launch home open interrupt:call end:call lock unlock wait:6s kill"

  /// The standard actions and rarer ones: low memory, the switcher, a launch into the background, a changed clock,
  /// crashes.
  ///
  /// `wait:40s` is longer than background tasks keep an application awake.
  public static let extended = """
    \(standard) wait:100ms wait:40s launch:background switcher switcher:return switcher:leave memory time fetch suspend \
    wake quit crash reclaim
    """
}
