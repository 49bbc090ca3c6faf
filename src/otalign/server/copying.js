// Copying, and the commands that give programs what is shown.

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyByHand(text); // only pages of this machine or over https may use the clipboard
  }
}

function copyByHand(text) {
  const place = Object.assign(made("textarea", "unseen"), { value: text });
  const focused = document.activeElement;
  document.body.append(place);
  place.select();
  document.execCommand("copy");
  place.remove();
  focused?.focus();
}

// One command and one program for each view.
function showSnippets(views) {
  const token = sessionStorage.getItem("otalign-token") ? "TOKEN" : null;
  const listed = (format) => views.map((view) => format(new URL(view.path(), location.href).href, view.body(), token)).join("\n\n");
  field("curl").textContent = listed(curlFor);
  field("python").textContent = listed(pythonFor);
}

function curlFor(address, body, token) {
  const inShell = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const headers = ["content-type: application/json", ...(token ? [`authorization: Bearer ${token}`] : [])];
  const options = headers.map((header) => `-H ${inShell(header)}`).join(" ");
  return `curl -s ${inShell(address)} ${options} \\\n  -d ${inShell(JSON.stringify(body))}`;
}

function pythonFor(address, body, token) {
  const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
  return [
    "import json, urllib.request",
    "",
    `body = ${JSON.stringify(body, null, 4)}`, // texts and numbers are written in Python as in JSON
    "request = urllib.request.Request(",
    `    ${JSON.stringify(address)},`,
    "    data=json.dumps(body).encode(),",
    `    headers=${JSON.stringify(headers)},`,
    ")",
    "with urllib.request.urlopen(request) as response:",
    "    answer = json.load(response)",
    'print(answer["links"])',
  ].join("\n");
}
