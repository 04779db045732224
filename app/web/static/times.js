// Times as the visitor's own clock has them. The server does not know the zone, and wrote UTC.

const written = new Intl.DateTimeFormat(document.documentElement.lang, {
  dateStyle: "long", timeStyle: "long",
});
for (const time of document.querySelectorAll("time[datetime]")) {
  time.textContent = written.format(new Date(time.dateTime));
}
