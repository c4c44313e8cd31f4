"""The inventory that Ansible and relight read, for scripts that use Fabric as it comes."""

import json
import os
from pathlib import Path

import fabric


def group() -> fabric.ThreadingGroup:
    """Return a connection for each host, none of them open yet."""
    hosts = json.loads(Path(os.environ["INVENTORY"]).read_text())["all"]["hosts"]
    return fabric.ThreadingGroup.from_connections(
        fabric.Connection(
            one["ansible_host"],
            user=one["ansible_user"],
            port=one["ansible_port"],
            connect_kwargs={
                "key_filename": one["ansible_ssh_private_key_file"],
                "allow_agent": False,
                "look_for_keys": False,
            },
        )
        for one in hosts.values()
    )
