// What all screens do that follow something: write words, warn, take the page anew, hear a stream.

export const AGAIN = 1000; // ms until the lab is asked again

const lost = document.getElementById("lost");
const words = document.getElementById("words")?.content;

/** Writes only what changed: a live region speaks at every write. */
export function write(element, text) {
  const whole = unbroken(String(text));
  if (element.textContent !== whole) element.textContent = whole;
}

/** A number stays on the line of what it counts; the template's filter of that name does the same. */
function unbroken(text) {
  return text.replace(/(\d) (?=\p{L})/gu, "$1\u00a0");
}

/** The page's own words of that name, in the reader's language. */
export function said(name) {
  return words.querySelector(`[data-for="${name}"]`).textContent;
}

/** That something is away or cut off; "": nothing is. */
export function warn(name) {
  lost.hidden = !name;
  write(lost, name ? said(name) : "");
}

/** A page as the server would send it now; by itself, this one. An error has its `status`, if any. */
export async function pageNow(address = location.href) {
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  const { ok, status } = answer;
  if (!ok) throw Object.assign(new Error(`status ${status}`), { status });
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

/** A stream that warns while it is cut. The browser connects again by itself, unless the lab refused
 * (its store was away, or what was followed has ended): then `refused` is called. */
export function hear(url, refused) {
  const events = new EventSource(url);
  events.addEventListener("open", () => warn(""));
  events.addEventListener("away", () => warn("away"));
  events.addEventListener("back", () => warn(""));
  events.addEventListener("error", () => {
    warn("cut");
    if (events.readyState === EventSource.CLOSED) refused();
  });
  return events;
}
