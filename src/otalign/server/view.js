// A view: one choice of model and settings, with the drawing and the matrix that the server answers.

const TYPING = 150; // milliseconds without a key until what was typed is sent

// `page` has the sentences, as `texts()`, and `abouts`, what the server says of each model; it is told of changes.
function newView(prefix, page) {
  const root = field("view-template").content.firstElementChild.cloneNode(true);
  const part = (name) => root.querySelector(`.${name}`);
  root.dataset.view = prefix || "a.";
  let choice = null; // { model, problem, chosen }
  let answer = null; // to what is chosen now, or null
  let shown = null; // the last answer, with which a new one is compared
  let [timer, wait, underway, changed, lost] = [0, 1000, false, false, false];

  const about = () => page.abouts[choice.model];
  const figure = () => root.querySelector("figure");
  const sizes = observeFigures();
  const sliders = SLIDERS.map((one) => newSlider(one, prefix, (name, value) => choose({ chosen: { ...choice.chosen, [name]: value } })));
  part("levels").before(...sliders.map(({ row }) => row));

  function choose(change) {
    choice = { ...choice, ...change };
    showChoice();
    page.onChoice();
    send();
  }

  function chooseProblem(problem) {
    const kept = Object.entries(choice.chosen).filter(([name]) => name !== "threshold" && name in about().settings[problem]);
    choose({ problem, chosen: Object.fromEntries(kept) });
  }

  function showChoice() {
    fillProblemsOnce();
    for (const radio of root.querySelectorAll(".problems input")) radio.checked = radio.value === choice.problem;
    part("levels").hidden = choice.problem !== "learned";
    const settings = { ...about().settings[choice.problem], ...(answer?.settings.problem === choice.problem && answer.settings) };
    for (const slider of sliders) slider.show(settings, choice.chosen);
    for (const radio of root.querySelectorAll(".levels input")) radio.checked = radio.value === (choice.chosen.links ?? settings.links);
    part("model").querySelector("select").value = choice.model;
  }

  let filled = null;
  function fillProblemsOnce() {
    if (filled === choice.model) return;
    filled = choice.model;
    fillProblems(part("problems"), about().settings, prefix, chooseProblem);
  }

  // Sending: one request at a time; what changes meanwhile is sent when the answer is there, and only the last of it.

  function send(delay = 0) {
    setStale(true);
    root.ariaBusy = "true"; // until what is shown is the answer to what was last chosen
    clearTimeout(timer);
    timer = setTimeout(ask, delay);
  }

  const path = () => `${page.paths[choice.model]}v1/align`;
  const body = () => ({ ...page.texts(), settings: { problem: choice.problem, ...choice.chosen } });

  async function ask() {
    timer = 0;
    changed = true;
    if (underway) return;
    underway = true;
    while (changed) {
      changed = false;
      const slow = setTimeout(() => (say(part("state"), WAITING), dim(true)), SLOW);
      try {
        checkLength(page.texts(), about().limits);
        show(await post(path(), "links", { ...body(), matrix: true }, about().limits.seconds));
      } catch (error) {
        if (!changed) fail(error);
      }
      clearTimeout(slow);
    }
    underway = false;
    if (!timer) root.ariaBusy = "false";
  }

  function show(said) {
    say(part("changes"), changesOf(shown, said));
    const keepPlaces = Boolean(shown) && shown.settings.problem === said.settings.problem;
    shown = said;
    showFigure(said, keepPlaces);
    showMatrix(part("matrix"), said);
    say(part("summary"), summaryOf(said));
    say(part("notice"), said.language_warning ? `Note: ${said.language_warning}.` : "");
    say(part("state"), lost ? "The server answers again." : "");
    [wait, lost] = [1000, false];
    root.classList.remove("failed");
    if (changed || timer) return; // what is chosen is further than the answer
    answer = said;
    setStale(false);
    showChoice();
    page.onAnswer();
  }

  function fail(error) {
    if (!(error instanceof RequestFailure)) throw error;
    root.classList.add("failed");
    dim(true);
    lost = error.retry;
    say(part("state"), error.retry ? `${error.message} Trying again.` : error.message);
    if (!error.retry || timer) return;
    timer = setTimeout(() => (timer = 0, ask()), wait);
    wait = Math.min(2 * wait, 15000);
  }

  // What is drawn does not belong to what is chosen: it cannot be copied, and after a while it is dimmed.
  function setStale(stale) {
    if (stale) [answer, part("copied").textContent] = [null, ""];
    else dim(false);
    for (const button of part("actions").querySelectorAll("button")) button.disabled = stale;
  }

  function dim(dimmed) {
    root.classList.toggle("dimmed", dimmed);
    for (const element of [part("drawing"), part("matrix")]) {
      element.inert = dimmed;
      element.ariaDisabled = String(dimmed);
    }
  }

  // Words stay where they are while a slider moves: only links move, and the focus is kept.
  function showFigure(said, keepPlaces) {
    const pair = pairOf(said);
    if (figure() && sameWords(figure().pair, pair)) {
      update(figure(), pair);
    } else {
      part("drawing").replaceChildren(newFigure(pair));
      sizes.observe(figure());
    }
    link([figure()], keepPlaces);
  }

  // Controls.

  part("levels").addEventListener("change", ({ target }) => choose({ chosen: { links: target.value } }));
  part("reset").addEventListener("click", () => choose({ problem: about().problem, chosen: {} }));
  part("model").addEventListener("change", ({ target }) => {
    choose({ model: target.value, problem: page.abouts[target.value].problem, chosen: {} });
  });
  part("model").querySelector("select").append(...Object.entries(page.names).map(([key, name]) => new Option(name, key)));
  part("model").hidden = Object.keys(page.abouts).length < 2;
  for (const radio of root.querySelectorAll(".levels input")) radio.name = `${prefix}links`;
  root.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  new ResizeObserver(() => part("matrix").shown && showMatrix(part("matrix"), part("matrix").answer)).observe(part("matrix"));
  lightCells(part("matrix"), figure);

  const actions = {
    "copy-pharaoh": async () => (await copyText(pharaohOf(answer)), "Links copied."),
    "copy-json": async () => {
      const { matrix, ...rest } = answer;
      await copyText(JSON.stringify(rest));
      return "JSON copied.";
    },
    "save-svg": async () => (save(svgOf(figure()), "image/svg+xml", "alignment.svg"), "SVG saved."),
    "save-png": async () => (save(await pngOf(figure()), "image/png", "alignment.png"), "PNG saved."),
  };
  for (const [name, act] of Object.entries(actions)) {
    part(name).addEventListener("click", async () => answer && (part("copied").textContent = await act()));
  }

  return {
    root,
    send,
    path,
    body,
    get choice() {
      return choice;
    },
    get answer() {
      return answer;
    },
    start(begin) {
      choice = begin;
      showChoice();
      send();
    },
  };
}

function checkLength(texts, { characters }) {
  for (const side of SIDES) {
    const length = [...texts[side]].length;
    if (length <= characters) continue;
    const [found, most] = [length, characters].map((count) => count.toLocaleString("en"));
    throw new RequestFailure(`The ${side} has ${found} characters; this server takes at most ${most}.`, false);
  }
}
