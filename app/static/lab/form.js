// Says what the chosen mode promises, and warns before a lease that is shorter than the work.

const form = document.getElementById("start");
const { mode, recipe, think_ms, lease_ms } = form;
const outlive = document.getElementById("outlive");
const recipes = document.getElementById("recipes");

function showOnly(kind, chosen) {
  for (const way of document.querySelectorAll(`[data-${kind}]`)) {
    way.hidden = way.dataset[kind] !== chosen;
  }
}

function slot(name) {
  return outlive.querySelector(`[data-slot="${name}"]`);
}

function tell() {
  const locks = "takesRecipe" in mode.selectedOptions[0].dataset;
  recipe.disabled = !locks;
  recipes.hidden = !locks;
  showOnly("mode", mode.value);
  showOnly("recipe", recipe.value);
  for (const field of [think_ms, lease_ms]) {
    slot(field.name).textContent = field.value / 1000;
  }
  const { outlived } = (locks ? recipe : mode).selectedOptions[0].dataset;
  slot("outlived").textContent = outlived;
  outlive.hidden = !outlived || think_ms.valueAsNumber < lease_ms.valueAsNumber;
}

form.addEventListener("input", tell);
tell();
