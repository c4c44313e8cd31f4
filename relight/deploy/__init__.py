"""The deploy transaction, step by step: what the verbs of a playbook act with."""
