"""Real servers whose clock is ours, as a schedule needs them."""
