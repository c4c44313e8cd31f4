"""The script that looks at a host in one round trip, and what it says under Ansible's names."""

from __future__ import annotations

import base64
import datetime as dt
import re
from collections.abc import Mapping
from typing import Any

from relight.core.posix.answers import SAY

SCRIPT = (
    SAY
    + r"""
say node "$(uname -n)"
say kernel "$(uname -r)"
say version "$(uname -v)"
say machine "$(uname -m)"
say system "$(uname -s)"
addresses() { getent hosts "$(uname -n)" 2>/dev/null; }
names() { addresses | { read -r address _; getent hosts "$address" 2>/dev/null; }; }
named() {
  names | {
    read -r _ first rest
    for one in $first $rest; do case $one in *.*) echo "$one"; return ;; esac; done
    echo "${first:-$(uname -n)}"
  }
}
say fqdn "$(named)"
say cpus "$(getconf _NPROCESSORS_ONLN 2>/dev/null || nproc)"
say now "$(date '+%Y-%m-%dT%H:%M:%S %s %z %Z %A %w %V')"
say user "$(id -un) $(id -u) $(id -g)"
account() { getent passwd "$(id -u)" 2>/dev/null || grep "^$(id -un):" /etc/passwd 2>/dev/null; }
say account "$(account | head -n 1)"
say home "$HOME"
say uptime "$(cut -d. -f1 /proc/uptime 2>/dev/null)"
say manager "$(cat /proc/1/comm 2>/dev/null)"
say init "$(test -d /run/systemd/system && echo yes)"
say machine_id "$(cat /etc/machine-id 2>/dev/null)"
say release "$(base64 /etc/os-release 2>/dev/null | tr -d '\n')"
say memory "$(base64 /proc/meminfo 2>/dev/null | tr -d '\n')"
say debian "$(cat /etc/debian_version 2>/dev/null)"
say env "$(env -0 2>/dev/null | base64 | tr -d '\n')"
say python "$(command -v python3 2>/dev/null)"
ids() { sed -n 's/^[UG]id:[[:space:]]*//p' /proc/self/status 2>/dev/null | cut -f1,2; }
say real "$(ids | tr '\t\n' '  ')"
cpus() {
  sed -n 's/[[:space:]]*: */=/p' /proc/cpuinfo 2>/dev/null |
    grep -E '^(physical id|cpu cores|siblings)=' | sort -u
}
say cpuinfo "$(cpus | base64 | tr -d '\n')"
say route "$(ip -4 route get 1.1.1.1 2>/dev/null | head -n 1)"
global() { ip -4 -o addr show scope global 2>/dev/null | sed 's/.* inet //; s|/.*||'; }
say addresses "$(global | tr '\n' ' ')"
say links "$(ls /sys/class/net 2>/dev/null | tr '\n' ' ')"
"""
)

_FAMILIES = {
    "Debian": ("debian", "ubuntu", "linuxmint", "raspbian", "kali", "pop", "devuan"),
    "RedHat": ("rhel", "centos", "fedora", "rocky", "almalinux", "ol", "amzn"),
    "Suse": ("sles", "opensuse", "opensuse-leap", "opensuse-tumbleweed", "suse"),
    "Archlinux": ("arch", "manjaro"),
    "Alpine": ("alpine",),
    "Gentoo": ("gentoo",),
}
_NAMES = {
    "debian": "Debian", "ubuntu": "Ubuntu", "rhel": "RedHat", "centos": "CentOS",
    "fedora": "Fedora", "rocky": "Rocky", "almalinux": "AlmaLinux", "alpine": "Alpine",
    "arch": "Archlinux", "sles": "SLES", "amzn": "Amazon", "gentoo": "Gentoo",
}  # fmt: skip

_ACCOUNT = ("name", "password", "uid", "gid", "gecos", "dir", "shell")  # passwd(5)


def facts(said: Mapping[str, str]) -> dict[str, Any]:
    """Return the facts, each under its name with the prefix `ansible_`."""
    node = said.get("node", "")
    user, uid, gid = (said.get("user", "") + " 0 0").split(" ")[:3]
    fqdn = said.get("fqdn", node)
    account = dict(zip(_ACCOUNT, said.get("account", "").split(":"), strict=False))
    found: dict[str, Any] = {
        "hostname": node.split(".", maxsplit=1)[0],
        "nodename": node,
        "fqdn": fqdn,
        "domain": fqdn.partition(".")[2],
        "kernel": said.get("kernel", ""),
        "kernel_version": said.get("version", ""),
        "system": said.get("system", ""),
        "architecture": said.get("machine", ""),
        "machine": said.get("machine", ""),
        "machine_id": said.get("machine_id", ""),
        "userspace_bits": "64" if "64" in said.get("machine", "") else "32",
        "user_id": user,
        "user_uid": int(uid),
        "user_gid": int(gid),
        "user_dir": account.get("dir") or said.get("home", ""),
        "user_shell": account.get("shell", ""),
        "user_gecos": account.get("gecos", ""),
        **_ids(said.get("real", "")),
        "userspace_architecture": said.get("machine", ""),
        **_network(said),
        "uptime_seconds": int(said.get("uptime") or 0),
        "service_mgr": "systemd" if said.get("init") else said.get("manager", ""),
        **_processor(said),
        "pkg_mgr": "unknown",
        "env": _environment(said.get("env", "")),
        "gather_subset": ["all"],
        "module_setup": True,
        **_distribution(said),
        **_memory(_text(said.get("memory", ""))),
        "date_time": _date(said.get("now", "")),
    }
    found["pkg_mgr"] = _PACKAGES.get(found["os_family"], "unknown")
    return {f"ansible_{name}" if name not in _BARE else name: v for name, v in found.items()}


def _ids(said: str) -> dict[str, int]:
    parts = said.split()
    if len(parts) != 4:
        return {}
    names = ("real_user_id", "effective_user_id", "real_group_id", "effective_group_id")
    return {name: int(part) for name, part in zip(names, parts, strict=True)}


def _processor(said: Mapping[str, str]) -> dict[str, Any]:
    cpus = int(said.get("cpus") or 1)
    pairs = [line.partition("=") for line in _text(said.get("cpuinfo", "")).splitlines()]
    values = {name: value for name, _, value in pairs}
    sockets = max(1, sum(name == "physical id" for name, _, _ in pairs))
    cores = int(values.get("cpu cores") or 1)
    threads = max(1, int(values.get("siblings") or cores) // cores)
    return {
        "processor_count": sockets,
        "processor_cores": cores,
        "processor_threads_per_core": threads,
        "processor_vcpus": cpus,
        "processor_nproc": cpus,
    }


def _network(said: Mapping[str, str]) -> dict[str, Any]:
    words = said.get("route", "").split()
    pairs = dict(zip(words[1::2], words[2::2], strict=False))
    named = {"gateway": "via", "interface": "dev", "address": "src"}
    default = {name: pairs[word] for name, word in named.items() if word in pairs}
    return {
        "default_ipv4": default,
        "all_ipv4_addresses": said.get("addresses", "").split(),
        "interfaces": said.get("links", "").split(),
    }


_BARE = ("gather_subset", "module_setup")
_PACKAGES = {"Debian": "apt", "RedHat": "dnf", "Suse": "zypper", "Alpine": "apk",
             "Archlinux": "pacman", "Gentoo": "portage"}  # fmt: skip


def _text(encoded: str) -> str:
    try:
        return base64.b64decode(encoded).decode(errors="replace")
    except ValueError:
        return ""


def _environment(encoded: str) -> dict[str, str]:
    pairs = (entry.partition("=") for entry in _text(encoded).split("\0"))
    return {name: value for name, equals, value in pairs if equals}


def _distribution(said: Mapping[str, str]) -> dict[str, Any]:
    lines = _text(said.get("release", "")).splitlines()
    values = {
        name: value.strip("\"'") for name, equals, value in (x.partition("=") for x in lines)
        if equals
    }  # fmt: skip
    identity = values.get("ID", "")
    like = [identity, *values.get("ID_LIKE", "").split()]
    family = next((f for f, names in _FAMILIES.items() if any(n in names for n in like)), "")
    version = values.get("VERSION_ID", "")
    if identity == "debian" and re.match(r"\d", said.get("debian", "")):
        version = said["debian"]
    name = _NAMES.get(identity, identity.capitalize())
    return {
        "distribution": name,
        "distribution_version": version,
        "distribution_major_version": version.split(".", maxsplit=1)[0],
        "distribution_release": values.get("VERSION_CODENAME", "NA"),
        "os_family": family or name,
        "lsb": {},
    }


def _memory(text: str) -> dict[str, Any]:
    lines = re.findall(r"^(\w+):\s+(\d+) kB", text, re.MULTILINE)
    sizes = {name: int(size) // 1024 for name, size in lines}
    total, free = sizes.get("MemTotal", 0), sizes.get("MemFree", 0)
    cached = sizes.get("Cached", 0) + sizes.get("Buffers", 0)
    swap, swap_free = sizes.get("SwapTotal", 0), sizes.get("SwapFree", 0)
    return {
        "memtotal_mb": total,
        "memfree_mb": free,
        "swaptotal_mb": swap,
        "swapfree_mb": swap_free,
        "memory_mb": {
            "real": {"total": total, "used": total - free, "free": free},
            "nocache": {"free": free + cached, "used": total - free - cached},
            "swap": {
                "total": swap,
                "free": swap_free,
                "used": swap - swap_free,
                "cached": sizes.get("SwapCached", 0),
            },
        },
    }


def _date(said: str) -> dict[str, str]:
    parts = said.split(" ")
    if len(parts) < 7:
        return {}
    local, epoch, offset, zone, weekday, number, week = parts[:7]
    day, clock = local.split("T")
    year, month, date = day.split("-")
    hour, minute, second = clock.split(":")
    utc = dt.datetime.fromtimestamp(int(epoch), dt.UTC)
    return {
        "year": year, "month": month, "day": date, "hour": hour, "minute": minute,
        "second": second, "date": day, "time": clock, "weekday": weekday,
        "weekday_number": number, "weeknumber": week, "epoch": epoch, "epoch_int": epoch,
        "iso8601": f"{utc:%Y-%m-%dT%H:%M:%SZ}", "iso8601_micro": f"{utc:%Y-%m-%dT%H:%M:%S.%fZ}",
        "iso8601_basic": f"{local.replace('-', '').replace(':', '')}000000",
        "iso8601_basic_short": local.replace("-", "").replace(":", ""),
        "tz": zone, "tz_dst": zone, "tz_offset": offset,
    }  # fmt: skip
