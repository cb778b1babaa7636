extension StatePage {
  /// The style sheet of the page, except for its picture.
  static let style = """
    header, main { max-width: 90rem; margin: 0 auto; padding: 0 1.25rem; } header { padding-top: 1.1rem; }
    h1 { margin: 0; font-size: 1.35rem; } header p { margin: 0.2rem 0 0.8rem; color: var(--faint); }
    button { font: inherit; color: var(--ink); background: var(--panel); border: 1px solid var(--line); border-radius: 5px;
      padding: 0.1rem 0.55rem; cursor: pointer; } button:hover, button:focus { outline: 2px solid var(--background); }
    button[aria-disabled=true] { color: var(--faint); opacity: 0.55; }
    #inputs { display: flex; flex-wrap: wrap; gap: 0.5rem 1.4rem; margin: 0.7rem 0; }
    .group { display: flex; flex-wrap: wrap; gap: 0.3rem; align-items: center; } .group b { color: var(--faint); font-size: 0.8rem; font-weight: 400; }
    #inputs button { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 0.85rem; }
    .now { display: flex; flex-wrap: wrap; gap: 0.5rem 1.4rem; justify-content: space-between; align-items: center; }
    #facts { display: flex; flex-wrap: wrap; gap: 0.4rem; align-items: center; min-height: 2rem; }
    #facts span { padding: 0.1rem 0.6rem; border: 1px solid var(--line); border-radius: 99px; }
    #facts .active, .seen.active, #facts .foregroundActive { background: var(--active); color: var(--on-active); }
    #facts .inactive, .seen.inactive, #facts .foregroundInactive { background: var(--inactive); color: var(--on-inactive); }
    #facts .background, .seen.background { background: var(--background); color: var(--on-background); }
    #facts .suspended, .seen.suspended { background: var(--suspended); color: var(--on-suspended); }
    .columns { display: grid; grid-template-columns: minmax(0, 3fr) minmax(20rem, 2fr); gap: 1.2rem; margin: 0.8rem 0 2rem; }
    .diagram { width: 100%; height: auto; border: 1px solid var(--line); border-radius: 8px; margin-bottom: 0.8rem; }
    .state.here rect { stroke: var(--ink); stroke-width: 3.5; stroke-dasharray: none; } .change.taken .arrow { stroke: var(--ink); stroke-width: 3; }
    .command { margin: 0 0 0.5rem; overflow-wrap: anywhere; color: var(--faint); }
    #log { list-style: none; margin: 0; padding: 0; border: 1px solid var(--line); border-radius: 8px; max-height: 36rem; overflow-y: auto; }
    #log li { padding: 0.15rem 0.7rem; overflow-wrap: anywhere; } #log .input { background: var(--panel); font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-weight: 600; }
    #log:empty { display: none; } #log li:not(.input, .note) { display: grid; grid-template-columns: 4.2rem minmax(0, 1fr) auto; align-items: baseline; }
    #log .kind { color: var(--faint); font-size: 0.8rem; } #log .ignored, #log .note { color: var(--faint); font-style: italic; }
    #log .seen { margin-left: 0.5rem; padding: 0 0.45rem; border-radius: 99px; font-size: 0.75rem; font-style: normal; }
    @media (max-width: 60rem) { .columns { grid-template-columns: 1fr; } }
    """

  /// The script that moves through the states.
  static let script = #"""
    const data = JSON.parse(document.getElementById("data").textContent);
    const [facts, inputs, log, command] = ["facts", "inputs", "log", "command"].map(id => document.getElementById(id));
    // The inputs so far, as indices: the page's address holds them, so that a link leads here.
    let path = [];

    function step(state, input) {
      const step = data.steps[state][input];
      return typeof step === "number" ? { target: state, lines: data.effects[-step - 1] } : { target: step[0], lines: data.effects[step[1]] };
    }

    const reason = lines => lines[0]?.[0] === "ignored" ? lines[0][1] : null;

    const buttons = data.inputs.map(([token, group], index) => {
      let box = inputs.querySelector(`[data-group="${CSS.escape(group)}"]`);
      if (!box) {
        box = make("div", "group", inputs);
        box.dataset.group = group;
        make("b", "", box, group);
      }
      const button = make("button", "", box, token.replace(/^scene:/, ""));
      button.type = "button";
      button.dataset.input = token;
      button.addEventListener("click", () => { path.push(index); show(); });
      return button;
    });

    function show() {
      log.replaceChildren();
      const taken = new Set();
      let state = 0;
      path.forEach((input, place) => {
        const { target, lines } = step(state, input);
        const isLast = place === path.length - 1;
        make("li", "input", log, data.inputs[input][0]);
        let seen = data.states[state][0];
        if (!lines.length) make("li", "note", log, "nothing is called; the device remembers it");
        for (const [kind, text, scene] of lines) {
          if (kind === "state" && !scene) {
            if (isLast) taken.add(`${seen} ${text}`);
            seen = text;
          }
          if (isLast && text.startsWith("the process vanishes")) taken.add("loss");
          const line = make("li", kind, log);
          make("span", "kind", line, kind);
          line.append(kind === "reasons" && !text ? "none" : text, scene ? ` (${scene})` : "");
          if (["state", "call", "post"].includes(kind)) make("span", `seen ${seen}`, line, seen);
        }
        state = target;
      });
      const [now, reasons, scenes, isLocked] = data.states[state];
      facts.replaceChildren();
      make("span", now, facts, now);
      if (reasons.length) make("span", "", facts, `not active because: ${reasons.join(", ")}`);
      if (isLocked) make("span", "", facts, "screen locked");
      for (const [id, scene, hasFocus] of scenes) make("span", scene, facts, `${id}: ${scene}${hasFocus ? "" : ", no focus"}`);
      for (const element of document.querySelectorAll("[data-state]")) {
        const isScene = element.closest("svg") !== document.querySelector("svg.diagram");
        const main = scenes.find(([id]) => id === "main")?.[1] ?? "unattached";
        element.classList.toggle("here", element.dataset.state === (isScene ? main : now));
      }
      const first = document.querySelector("svg.diagram");
      for (const element of first.querySelectorAll("[data-change]")) {
        const isLoss = taken.has("loss");
        element.classList.toggle("taken", element.dataset.change === "loss" ? isLoss : !isLoss && taken.has(element.dataset.change));
      }
      buttons.forEach((button, input) => {
        const why = reason(step(state, input).lines);
        button.setAttribute("aria-disabled", why !== null);
        button.title = why ? `ignored: ${why}` : "";
      });
      const script = path.map(input => data.inputs[input][0]).join("; ");
      const flag = data.inputs.some(([token]) => token.startsWith("scene:")) ? "--profile scene " : "";
      command.textContent = path.some(input => data.inputs[input][0] === "purge") || !path.length ? "" : `lifecycle simulate ${flag}'${script}'`;
      history.replaceState(null, "", path.length ? `#${encodeURIComponent(script)}` : location.pathname + location.search);
      log.scrollTop = log.scrollHeight;
    }

    document.getElementById("undo").addEventListener("click", () => { path.pop(); show(); });
    document.getElementById("reset").addEventListener("click", () => { path = []; show(); });

    try {
      path = decodeURIComponent(location.hash.slice(1)).split(/[;\s]+/).filter(Boolean)
        .map(token => data.inputs.findIndex(([name]) => name === token)).filter(index => index >= 0);
    } catch {
      // An address that cannot be decoded leads to the beginning.
    }
    show();
    """#
}
