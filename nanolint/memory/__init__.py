"""From a Run and a card to a timeline of GPU memory: what is allocated, when, does it fit."""
