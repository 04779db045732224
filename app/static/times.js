// Times as the visitor's own clock has them. The server does not know the zone, and wrote UTC.

const { lang } = document.documentElement;
const written = new Intl.DateTimeFormat(lang, { dateStyle: "long", timeStyle: "medium" });
const zoned = new Intl.DateTimeFormat(lang, { timeZoneName: "short" });

/** Last and in brackets, as the server has it: Chinese would get it between day and hour. */
function zone(moment) {
  return zoned.formatToParts(moment).find(({ type }) => type === "timeZoneName").value;
}

for (const time of document.querySelectorAll("time[datetime]")) {
  const moment = new Date(time.dateTime);
  time.textContent = `${written.format(moment)} (${zone(moment)})`;
}
