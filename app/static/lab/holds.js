// Shows a round's holds as they run out.

const EVERY = 1000; // ms

const section = document.getElementById("holds");
const list = section.querySelector(".holds");
const none = section.querySelector(".none");
const lasts = Number(section.dataset.lasts);

function row({ quantity, pay_in_ms }) {
  const drawn = section.querySelector("template").content.cloneNode(true);
  drawn.querySelector('[data-slot="units"]').textContent = quantity;
  drawn.querySelector('[data-slot="seconds"]').textContent = Math.ceil(pay_in_ms / 1000);
  const bar = drawn.querySelector("progress");
  bar.value = pay_in_ms / lasts;
  bar.ariaHidden = "true"; // it says what the words say
  return drawn;
}

async function refresh() {
  const answer = await fetch(section.dataset.url, { headers: { Accept: "application/json" } });
  if (!answer.ok) return;
  const { holds } = await answer.json();
  list.replaceChildren(...holds.map(row));
  none.hidden = holds.length > 0;
}

async function keepFresh() {
  // Whether the lab answers, the verdict says.
  if (!document.hidden) await refresh().catch(() => {});
  setTimeout(keepFresh, EVERY);
}

keepFresh();
