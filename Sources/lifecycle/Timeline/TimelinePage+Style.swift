extension TimelinePage {
  /// The page's style sheet: in light and in dark, on a screen and on paper.
  static let style = """
    header, main { max-width: 120rem; margin: 0 auto; padding: 0 1.25rem; }
    header { display: flex; flex-wrap: wrap; align-items: end; justify-content: space-between; gap: 0.6rem 2rem;
      padding-top: 1.1rem; }
    h1 { margin: 0; font-size: 1.35rem; letter-spacing: -0.01em; overflow-wrap: anywhere; }
    h2 { display: inline; margin: 0; font-size: 1rem; overflow-wrap: anywhere; }
    p { margin: 0; } #overview, .when { color: var(--faint); }
    #omission { max-width: 60rem; margin-top: 0.4rem; padding-left: 0.6rem; border-left: 3px solid var(--inactive); }
    .omitted { margin-left: 0.6rem; font-size: 0.8rem; color: var(--faint); }
    .tools { display: flex; align-items: center; gap: 0.4rem; color: var(--faint); }
    .tools label { margin-right: 0.8rem; } .tools input { accent-color: var(--background); }
    button { font: inherit; color: var(--ink); background: var(--panel); border: 1px solid var(--line);
      border-radius: 5px; padding: 0.1rem 0.55rem; cursor: pointer; }
    [hidden] { display: none !important; } .key { flex-basis: 100%; display: flex; flex-wrap: wrap; gap: 0.15rem 1.1rem; margin: 0; padding: 0; list-style: none;
      font-size: 0.8rem; color: var(--faint); }
    .swatch { display: inline-block; width: 0.95em; height: 0.75em; margin-right: 0.4em; border-radius: 2px; }
    .run { margin: 1rem 0 1.5rem; border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
    summary { padding: 0.55rem 0.9rem; background: var(--panel); cursor: pointer; }
    .when { margin-left: 0.6rem; } .ended { margin-left: 0.6rem; padding: 0 0.5rem; border: 1px solid var(--line);
      border-radius: 99px; font-size: 0.8rem; white-space: nowrap; } .ended.alarm { color: var(--late); border-color: currentColor; }
    .facts { display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem; padding: 0.6rem 0.9rem 0; margin: 0; list-style: none;
      font-variant-numeric: tabular-nums; }
    .overruns { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.3rem 0.5rem; padding: 0.6rem 0.9rem 0; }
    .overruns strong { color: var(--late); font-weight: 600; }
    .overruns button { border-color: var(--late); text-align: left; overflow-wrap: anywhere; }
    .chart { position: relative; overflow-x: auto; margin-top: 0.6rem; border-top: 1px solid var(--line); }
    .plot { position: relative; }
    .lane, .axis { position: relative; border-bottom: 1px solid var(--line); }
    .name { position: sticky; left: 0; z-index: 3; width: 9.5rem; height: 100%; padding: 0.2rem 0.6rem 0 0.9rem;
      background: var(--paper); border-right: 1px solid var(--line); color: var(--faint); font-size: 0.8rem; line-height: 1.3;
      overflow: hidden; text-overflow: ellipsis; overflow-wrap: anywhere; }
    .axis .name { background: var(--panel); } .axis { background: var(--panel); height: 2.5rem; font-size: 0.75rem; }
    .axis span { position: absolute; white-space: nowrap; font-variant-numeric: tabular-nums; }
    .tick { top: 0.15rem; padding-left: 4px; border-left: 1px solid var(--faint); }
    .more { border-color: var(--line); color: var(--faint); }
    .span { top: 1.3rem; transform: translateX(-50%); color: var(--faint); font-style: italic; }
    .span::before, .span::after { content: ""; display: inline-block; width: 0.6em; margin: 0 0.3em; vertical-align: middle;
      border-top: 1px solid var(--line); }
    .guide, .shade, .cursor { position: absolute; top: 2.5rem; bottom: 0; pointer-events: none; }
    .guide { width: 1px; background: var(--guide); } .cursor { width: 1px; background: var(--faint); z-index: 2; }
    .shade { background: repeating-linear-gradient(135deg, var(--shade) 0 5px, transparent 5px 10px); }
    .now { position: absolute; top: 1.2rem; z-index: 4; padding: 0 0.35rem; border-radius: 3px; background: var(--ink);
      color: var(--paper); font-size: 0.72rem; white-space: nowrap; pointer-events: none; transform: translateX(-50%); }
    .item { position: absolute; display: flex; align-items: center; height: 14px; min-width: 3px; border-radius: 3px; outline-offset: 1px; cursor: default; }
    .item:hover, .item:focus { outline: 2px solid var(--ink); z-index: 2; }
    .states .item { height: 22px; } .scenes .item, .resources .item { height: 16px; }
    .label { position: absolute; left: 100%; top: 50%; transform: translateY(-50%); padding: 0 5px; font-size: 0.75rem;
      line-height: 1; white-space: nowrap; color: var(--ink); pointer-events: none; }
    .label.before { left: auto; right: 100%; }
    .label.inside { position: sticky; left: 9.8rem; top: auto; transform: none; padding: 0 6px; color: inherit; }
    .label small { color: var(--faint); font-size: inherit; } .label.inside small { color: inherit; }
    .active, .foregroundActive { background: var(--active); color: var(--on-active); }
    .inactive, .foregroundInactive { background: var(--inactive); color: var(--on-inactive); }
    .background { background: var(--background); color: var(--on-background); }
    .suspended { background: repeating-linear-gradient(135deg, var(--suspended) 0 5px, var(--stripe) 5px 7px);
      color: var(--on-suspended); }
    .suspended .label, .acquire .label, .release .label { padding: 2px 4px; border-radius: 3px; background: var(--suspended); }
    .acquire .label, .release .label { background: var(--held); }
    .notRunning { border: 1px dashed var(--faint); color: var(--faint); }
    .call { background: var(--call); } .handlers { background: var(--handlers); } .handler { background: var(--handler); }
    .held { background: var(--held); color: var(--on-held); } .task { background: var(--task); }
    .acquire, .release { background: repeating-linear-gradient(135deg, var(--held) 0 3px, var(--hatch) 3px 6px);
      color: var(--on-held); }
    .late, .late.acquire, .late.release { background: repeating-linear-gradient(135deg, var(--late) 0 6px,
      color-mix(in srgb, var(--late) 70%, var(--paper)) 6px 9px); }
    .late .label { color: var(--late); font-weight: 600; }
    .late .label.inside { background: var(--late); color: var(--on-late); }
    .marks .item { width: 9px; height: 9px; margin: 3px 0 0 -1px; border-radius: 50%; background: var(--ink); }
    .marks .ignored { background: transparent; border: 2px solid var(--faint); } .marks .ignored .label { color: var(--faint); }
    .marks .task { background: var(--task); border-radius: 2px; }
    .marks .report, .marks .gap, .swatch.report { background: var(--late); border-radius: 2px; }
    .marks .report .label, .marks .gap .label { color: var(--late); }
    #tip { position: fixed; z-index: 9; max-width: min(26rem, calc(100vw - 1rem)); padding: 0.5rem 0.7rem; border-radius: 6px;
      background: var(--ink); color: var(--paper); font-size: 0.8rem; white-space: pre-line; overflow-wrap: anywhere;
      pointer-events: none; box-shadow: 0 4px 14px rgb(0 0 0 / 0.25); }
    #tip b { display: block; font-size: 0.85rem; }
    @media (max-width: 40rem) {
      header, main { padding-left: 0.6rem; padding-right: 0.6rem; } .run { margin-top: 0.7rem; }
      .name { width: max-content; max-width: 70vw; height: 1.15rem; padding: 0.1rem 0.5rem 0; border: 0; background: none;
        white-space: nowrap; } .axis .name { display: none; } .when { display: block; margin: 0; }
      .ended { margin: 0; } .label.inside { left: 0.3rem; }
      #tip { left: 0.5rem !important; right: 0.5rem; top: auto !important; bottom: 0.5rem; } }
    @media print { @page { size: A4 landscape; margin: 10mm; } .tools, #tip { display: none; }
      * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } .run { break-inside: avoid; } .chart { overflow: visible; }
      header, main { padding: 0; } }
    """
}
