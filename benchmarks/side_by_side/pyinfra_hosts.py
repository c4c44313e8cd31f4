"""The inventory that Ansible and relight read, for pyinfra."""

import json
import os
from pathlib import Path

_INVENTORY = json.loads(Path(os.environ["INVENTORY"]).read_text())

all_hosts = [
    (
        name,
        {
            "ssh_hostname": one["ansible_host"],
            "ssh_port": one["ansible_port"],
            "ssh_user": one["ansible_user"],
            "ssh_key": one["ansible_ssh_private_key_file"],
            "ssh_allow_agent": False,
            "ssh_look_for_keys": False,
        },
    )
    for name, one in _INVENTORY["all"]["hosts"].items()
]
