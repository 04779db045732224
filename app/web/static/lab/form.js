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

function tell() {
  const locks = "takesRecipe" in mode.selectedOptions[0].dataset;
  recipe.disabled = !locks;
  recipes.hidden = !locks;
  showOnly("mode", mode.value);
  showOnly("recipe", recipe.value);
  for (const field of [think_ms, lease_ms]) {
    outlive.querySelector(`[data-slot="${field.name}"]`).textContent = field.value / 1000;
  }
  const leased = locks && "outlived" in recipe.selectedOptions[0].dataset;
  outlive.hidden = !leased || think_ms.valueAsNumber < lease_ms.valueAsNumber;
}

form.addEventListener("input", tell);
tell();
