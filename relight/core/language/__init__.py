"""The playbook language: templates, keywords, variables, recap."""
