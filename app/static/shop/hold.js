// Counts what is left to pay in, by this browser's own clock, and looks again when it has run out.

const clock = document.getElementById("pay-in");
const end = performance.now() + Number(clock.dataset.ms);

function draw() {
  const left = end - performance.now();
  if (left <= 0) {
    location.reload();
    return;
  }
  clock.textContent = Math.ceil(left / 1000);
  setTimeout(draw, left % 1000 || 1000);
}

draw();
