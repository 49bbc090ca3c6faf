// Requests to the server: with the token that it needs, if it needs one, and what went wrong in words.

const field = (id) => document.getElementById(id);
const PATIENCE = 5000; // milliseconds beyond the server's own limit until an answer is given up
const SLOW = 400; // milliseconds until the page says that it waits
const WAITING = "Waiting for the server …";

// What kept the server from answering, and whether it may answer if it is asked again.
class RequestFailure extends Error {
  constructor(message, retry) {
    super(message);
    this.retry = retry;
  }
}

// The JSON that a path answers, which must have a field, as any answer of otalign has.
async function fetchJson(path, wanted, options = {}, seconds = 30) {
  for (;;) {
    const token = sessionStorage.getItem("otalign-token"); // only this tab remembers it, until it is closed
    const headers = { ...options.headers, ...(token && { Authorization: `Bearer ${token}` }) };
    const signal = AbortSignal.timeout(1000 * seconds + PATIENCE);
    const response = await fetch(path, { ...options, headers, signal }).catch((error) => {
      if (error.name === "TimeoutError") throw new RequestFailure("The server has not answered in time.", true);
      throw new RequestFailure("The server cannot be reached.", true);
    });
    if (response.status === 401) {
      await askForToken(token);
      continue;
    }
    const body = await response.json().catch(() => null);
    if (response.ok && body?.[wanted]) return body;
    if (!response.ok && body?.detail) throw new RequestFailure(`${body.detail}`.replace(/\.?$/, "."), response.status >= 500);
    const fault = body === null ? "is not JSON" : "is not one of otalign";
    throw new RequestFailure(`The answer ${fault} (status ${response.status}): another program may be at this address.`, true);
  }
}

const post = (path, wanted, body, seconds) =>
  fetchJson(path, wanted, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }, seconds);

let tokenRequest = null; // shared by all that wait for it

function askForToken(refused) {
  if (sessionStorage.getItem("otalign-token") !== refused) return Promise.resolve(); // another one is there already
  tokenRequest ??= new Promise((resolve) => {
    const form = field("unlock");
    form.hidden = false;
    form.querySelector("p").textContent = refused ? "The server does not know this token." : "";
    field("token").focus();
    form.onsubmit = (event) => {
      event.preventDefault();
      sessionStorage.setItem("otalign-token", field("token").value.trim());
      field("token").value = "";
      form.hidden = true;
      tokenRequest = null;
      resolve();
    };
  });
  return tokenRequest;
}

// Ask until there is an answer, and say meanwhile why there is none.
async function fetchPatiently(path, say) {
  for (let wait = 1000; ; wait = Math.min(2 * wait, 15000)) {
    const slow = setTimeout(() => field("unlock").hidden && say(WAITING), SLOW); // unless it waits for a token
    try {
      const answer = await fetchJson(path, "settings");
      say("");
      return answer;
    } catch (error) {
      say(`${error.message} Trying again.`);
    } finally {
      clearTimeout(slow);
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}
