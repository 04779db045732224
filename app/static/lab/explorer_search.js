// Asks for a search that nobody has asked for yet. Without this script its button does.

export async function search() {
  const form = document.getElementById("unasked");
  if (!form) return;
  const headers = { Accept: "application/json" };
  const body = new URLSearchParams(new FormData(form));
  const answer = await fetch(form.action, { method: "POST", headers, body });
  if (answer.ok) form.remove();
}
