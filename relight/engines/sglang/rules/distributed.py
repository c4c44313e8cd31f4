"""Rules for several ranks: peer access, process groups, and what is only their echo."""

from __future__ import annotations

from relight.core.failure import FailureClass
from relight.engines.sglang.rule import Rule, Tier, regex
from relight.engines.sglang.rules.remedies import NO_CUSTOM_ALL_REDUCE, tell

_ECHO = tell("Another rank or node failed first: read its log for the cause.")
_PEER_LOST = (
    "connection closed by peer",
    "connection reset by peer",
    "connection cl",
    "timed out waiting",
    "other ranks that didn't finish",
    "monitoredbarrier",
    "monitored barrier",
    "check rank 0 logs",
    "remote process exited",
    "gloo/transport",
    "read timeout",
    "broken pipe",
    "tcpstore",
    "socket closed",
    "connection was likely closed",
)
_PEER_LOST_LINE = regex(
    r"(?:gloo|pair\.cc|unbound_buffer|transport/tcp).*(?:Connection|Timed out|timeout|"
    r"Broken|closed)|"
    r"other ranks that didn't finish|[Mm]onitored ?[Bb]arrier|remote process exited|"
    r"TCPStore.*(?:Broken pipe|failed|closed|Connection)|likely closed|check rank 0 logs"
)


RULES: tuple[Rule, ...] = (
    Rule(
        "p2p.access",
        FailureClass.P2P_ALLREDUCE,
        (
            "peer access is not supported",
            "peer access",
            "cudaerrorpeeraccess",
            "cudaipcopenmemhandle",
            "cudaipcgetmemhandle",
            "open_mem_handle",
            "custom_all_reduce.cuh",
            "custom_all_reduce.cu",
            "mapping of buffer object failed",
            "p2p is disabled between",
            "nvls",
            "multicast",
        ),
        "these GPUs cannot reach each other's memory",
        NO_CUSTOM_ALL_REDUCE,
        regex(
            r"peer access (?:is not|from|has not|not|cannot|unsupported)|PeerAccess|"
            r"cudaIpc(?:Open|Get)MemHandle|open_mem_handle|custom_all_reduce\.cuh?:\d+|"
            r"mapping of buffer object|(?:Error|Exception|WARN).*(?:nvls|multicast)"
        ),
        regex(r"is disabled because|lacks GPU P2P"),
        flag="disable-custom-all-reduce",
    ),
    Rule(
        "p2p.frame",
        FailureClass.P2P_ALLREDUCE,
        (
            "custom_all_reduce.py",
            "register_graph_buffers",
            "custom_all_reduce_ops",
            "quick_all_reduce",
            "pcie_ipc_ar",
        ),
        "the custom all-reduce failed",
        NO_CUSTOM_ALL_REDUCE,
        regex(r'File ".*(?:custom_all_reduce|quick_all_reduce|pcie_ipc_ar)|register_graph_buffers'),
        tier=Tier.CONTEXT,
        flag="disable-custom-all-reduce",
    ),
    Rule(
        "dist.nccl",
        FailureClass.DIST_INIT,
        (
            "nccl error",
            "ncclsystemerror",
            "ncclinternalerror",
            "ncclunhandledcudaerror",
            "ncclinvalidusage",
            "distbackenderror",
            "nccl failure",
            "ncclremoteerror",
            "nccl version mismatch",
            "no socket interface found",
            "bootstrap : no socket",
            "call to connect returned",
            "net/ib",
            "net/socket",
            "nccl warn",
            "rccl error",
            "hccl error",
            "could not find nccl",
        ),
        "NCCL could not connect the GPUs",
        tell(
            "Name the network interface (NCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME), open the "
            "firewall, and read NCCL_DEBUG=INFO."
        ),
        regex(
            r"[NR]CCL error|hccl error|nccl\w+Error|DistBackendError|NCCL failure|ncclInvalidUsage|"
            r"version mismatch|No socket interface|Call to connect returned|NCCL WARN "
            r"(?!.*libnccl-net)|"
            r"Duplicate GPU detected"
        ),
        regex(
            r"remote process exited|network error|illegal memory|out of memory|watchdog|"
            r"libnccl-net|"
            r"Connection closed|aborted|NET/Plugin|No plugin"
        ),
        tier=Tier.CONTEXT,
    ),
    Rule(
        "dist.timeout",
        FailureClass.DIST_INIT,
        (
            "distnetworkerror",
            "diststoreerror",
            "socket has timed out",
            "timed out after",
            "client socket",
            "failed to connect to remote",
            "connectfullmesh failed",
            "unable to find address for",
            "unable to resolve hostname",
            "wait timeout after",
            "rendezvous",
            "init_process_group",
            "failed to recv, got 0 bytes",
            "nodename nor servname",
            "gloo connectfullmesh",
            "ifname",
            "connection timed out",
            "connection refused",
            "no route to host",
        ),
        "the ranks did not find each other",
        tell(
            "Check dist-init-addr, the network interface (GLOO_SOCKET_IFNAME) and the firewall; "
            "every node must be started."
        ),
        regex(
            r"Dist(?:Network|Store)Error|socket .*timed out|client socket .*(?:timed out|failed)|"
            r"timed out after \d+.*(?:clients|joined|rank|store|socket)|"
            r"failed to connect to remote|onnectFullMesh|Unable to find address|"
            r"resolve hostname|Wait timeout after|[Rr]endezvous.*(?:fail|time|clos|error)|"
            r"got 0 bytes|ifname.*(?:not found|invalid|fail)|"
            r"(?:c10d|gloo|tcp://|TCPStore).*(?:timed out|refused|No route)"
        ),
        regex(r"model_info|NCCL INFO|Timed out waiting \d+ms|huggingface|watchdog|http"),
        tier=Tier.GENERIC,
    ),
    Rule(
        "host.killed",
        FailureClass.HOST_RESOURCES,
        ("exit code: -9", "exit code -9", "exitcode: -9", "exitcode -9", "signal 9", "sigkill"),
        "a rank was killed while it started, most likely for the host's memory",
        tell(
            "See dmesg for the OOM killer; free host memory, raise the container's limit, or load "
            "fewer ranks at a time."
        ),
        regex(
            r"(?:died|scheduler is dead|dead|crashed|initialization|killed).*(?:exit ?code:? -9|"
            r"signal 9|SIGKILL)|\] Exit code: -9|^Exit code: -9"
        ),
        tier=Tier.ECHO,
        serving=False,
    ),
    Rule(
        "dist.echo",
        FailureClass.DIST_INIT,
        _PEER_LOST,
        "another rank failed or went away first",
        _ECHO,
        _PEER_LOST_LINE,
        tier=Tier.ECHO,
        serving=False,
    ),
    Rule(
        "dist.lost",
        FailureClass.RUNTIME_CRASH,
        _PEER_LOST,
        "another rank of a server that served was lost",
        _ECHO,
        _PEER_LOST_LINE,
        tier=Tier.ECHO,
        serving=True,
    ),
)
