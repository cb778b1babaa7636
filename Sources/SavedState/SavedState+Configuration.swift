extension SavedState {
  /// Where state is kept, and how often it is saved.
  public struct Configuration: Sendable, Hashable {
    /// What a process does while another one of the program holds the state.
    public enum SecondProcess: Sendable, Hashable {
      /// It has a state of its own, `saved-state.2`.
      case ownState
      /// It restores the state of the first, and saves nothing.
      case readsOnly
    }

    /// The name of the program, which its files carry; nil or empty for the name with which it was started.
    ///
    /// That is the last part of the path by which it was started, or of the path of its executable file if the former
    /// has no name.
    public var program: String?
    /// The directory of the files; nil or empty for the first that the environment names of `$STATE_DIRECTORY`,
    /// `$XDG_STATE_HOME/PROGRAM` and `~/.local/state/PROGRAM`, on Apple's systems `~/Library/Application Support/PROGRAM`.
    ///
    /// It is used as it is: a tilde has no meaning.
    public var directory: String?
    /// The shortest time between a change and the save that it causes while the program runs on.
    public var autosaveInterval: Duration
    /// What a further process of the program does.
    public var secondProcess: SecondProcess
    /// For how long an application must have been active, or in the background since its launch, until a crash is no longer blamed
    /// on its restored state.
    public var settlingTime: Duration
    /// The largest file that is read, in bytes.
    public var largestFile: Int

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - program: the name of the program; nil or empty for the name with which it was started.
    ///   - directory: the directory of the files; nil or empty for the user's directory for state.
    ///   - autosaveInterval: the shortest time between a change and its save while the program runs on.
    ///   - secondProcess: what a further process of the program does.
    ///   - settlingTime: for how long an application must have been active until a crash is not its state's fault.
    ///   - largestFile: the largest file that is read, in bytes; a larger one counts as damaged.
    public init(
      program: String? = nil, directory: String? = nil, autosaveInterval: Duration = .seconds(30),
      secondProcess: SecondProcess = .ownState, settlingTime: Duration = .seconds(5), largestFile: Int = 1 << 28
    ) {
      (self.program, self.directory, self.autosaveInterval) = (program, directory, autosaveInterval)
      (self.secondProcess, self.settlingTime, self.largestFile) = (secondProcess, settlingTime, largestFile)
    }
  }
}
