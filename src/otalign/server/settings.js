// The controls of a view: the model, the problem, and its parameters.

// Radios of problems, each with its own explanation, of which that of the chosen problem is shown.
function fillProblems(fieldset, offered, prefix, choose) {
  const choices = Object.keys(PROBLEMS)
    .filter((name) => name in offered)
    .map((name) => {
      const [title, explanation] = PROBLEMS[name];
      const radio = Object.assign(made("input"), { type: "radio", name: `${prefix}problem`, value: name });
      const help = Object.assign(made("small", "", explanation), { id: `${prefix}about-${name}` });
      radio.setAttribute("aria-describedby", help.id);
      return made("div", "choice", made("label", "", radio, title), help);
    });
  fieldset.replaceChildren(fieldset.querySelector("legend"), ...choices);
  fieldset.onchange = ({ target }) => choose(target.value);
}

function newSlider({ name, title, help, from, to, logarithmic }, prefix, move) {
  const [there, back] = logarithmic ? [Math.log10, (x) => 10 ** x] : [Number, Number];
  const input = made("input");
  Object.assign(input, { type: "range", id: `${prefix}${name}`, min: there(from), max: there(to), step: 0.01 });
  const output = made("output");
  const label = made("label", "", title);
  label.htmlFor = input.id;
  output.htmlFor = input.id;
  output.ariaLive = "off"; // the slider itself announces its value
  const note = Object.assign(made("small", "", help), { id: `${prefix}about-${name}` });
  input.setAttribute("aria-describedby", note.id);
  const row = made("div", "slider", label, output, input, note);
  function tellValue(value, own) {
    output.textContent = value.toPrecision(value < 1 ? 2 : 3);
    output.classList.toggle("own", own);
    input.setAttribute("aria-valuetext", output.textContent);
  }
  input.addEventListener("input", () => {
    const value = Number(back(input.valueAsNumber).toPrecision(3));
    tellValue(value, true);
    move(name, value);
  });
  function show(settings, chosen) {
    row.hidden = !(name in settings);
    if (row.hidden) return;
    const value = chosen[name] ?? settings[name];
    if (document.activeElement !== input) input.value = there(value);
    tellValue(value, name in chosen);
  }
  return { row, show };
}

// The choice in an address, as far as the model offers it.
function readChoice(said, prefix, abouts) {
  const model = said.get(`${prefix}model`) in abouts ? said.get(`${prefix}model`) : Object.keys(abouts)[0];
  const { settings, problem: usual } = abouts[model];
  const problem = said.get(`${prefix}problem`) in settings ? said.get(`${prefix}problem`) : usual;
  const chosen = {};
  for (const { name, from, to } of SLIDERS.filter(({ name }) => name in settings[problem])) {
    const value = Number(said.get(`${prefix}${name}`) ?? NaN);
    if (value >= from && value <= to) chosen[name] = value;
  }
  const links = said.get(`${prefix}links`);
  if (problem === "learned" && ["sure", "possible"].includes(links)) chosen.links = links;
  return { model, problem, chosen };
}

function writeChoice({ model, problem, chosen }, prefix, abouts) {
  const parts = { ...(model !== Object.keys(abouts)[0] && { model }), problem, ...chosen };
  return Object.entries(parts).map(([name, value]) => [`${prefix}${name}`, value]);
}
