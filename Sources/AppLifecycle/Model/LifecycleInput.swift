/// An input of the state machine: what a host sends, or what only a simulated device does.
package enum LifecycleInput: Sendable, Hashable {
  case system(SystemInput)
  case device(DeviceInput)

  /// The input that a host has sent; nil for an action of a simulated device.
  package var sent: SystemInput? { if case .system(let input) = self { input } else { nil } }

  /// The action of the script language for this input.
  package var scriptToken: String {
    switch self {
    case .system(let input): input.scriptToken
    case .device(let input): input.rawValue
    }
  }

  /// What the input can do, beside its effects.
  package var traits: InputTraits {
    switch self {
    case .system(let input): input.traits
    case .device(let input): input.traits
    }
  }
}
