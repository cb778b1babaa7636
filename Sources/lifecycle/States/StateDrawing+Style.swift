extension StateDrawing {
  /// The picture's style sheet, which uses a page's colors.
  static let style = """
    text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: var(--ink); }
    .paper { fill: var(--paper); } .tip { fill: var(--faint); } .arrow { fill: none; stroke: var(--faint); stroke-width: 1.5; }
    .call { font-weight: 600; font-size: 14px; } .input { fill: var(--faint); font-size: 13px; font-family: ui-monospace, "DejaVu Sans Mono", monospace; }
    .state rect { stroke: none; } .state text { text-anchor: middle; font-weight: 600; font-size: 14px; }
    .state.active rect { fill: var(--active); } .state.active text { fill: var(--on-active); }
    .state.inactive rect { fill: var(--inactive); } .state.inactive text { fill: var(--on-inactive); }
    .state.background rect { fill: var(--background); } .state.background text { fill: var(--on-background); }
    .state.suspended rect { fill: var(--suspended); } .state.suspended text { fill: var(--on-suspended); }
    .state.outside rect { fill: var(--paper); stroke: var(--faint); stroke-dasharray: 4 3; }
    .frame { fill: none; stroke: var(--line); } .loss .arrow { stroke-dasharray: 5 4; }
    """
}
