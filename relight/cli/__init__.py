"""From a command line to an exit code: what each command does, above everything else."""
