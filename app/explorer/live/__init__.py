"""Real servers under the gate: where a schedule that the model found is played again."""
