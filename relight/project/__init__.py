"""The project on disk: YAML with positions, inventory, presets, playbooks, templates."""
