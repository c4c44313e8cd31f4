# The commands. Those that change anything take the mutex and name the fence that they hold.
command=${1:-status}
[ $# -eq 0 ] || shift
case $command in
    status) cmd_status "${1:-0}" ;;
    pulse) cmd_pulse "$1" "$2" "$3" ;;
    follow) cmd_follow "$1" "$2" ;;
    free-port) free_port "${1:-30000}" ;;
    supervise) cmd_supervise "$1" ;;
    keep) cmd_keep "$1" ;;
    hold) cmd_hold "$1" "$2" ;;
    guard) cmd_guard ;;
    boot) launcher_boot ;;
    lock)
        enter_mutex
        do_lock "$1" "$2"
        leave_mutex
        [ -z "${3:-}" ] || cmd_status "$3"
        ;;
    # Without the mutex: a heartbeat must not wait for a long step. Checking the fence renews the lease.
    renew) check_fence "$1" ;;
    record | unlock | finish | arm | disarm | start | stop | promote | confirm | rollback | prune | quit | adopt)
        enter_mutex
        check_fence "$1"
        shift
        case $command in
            record) record "$1" "${2:-}" ;;
            unlock) do_unlock ;;
            finish) do_finish ;;
            arm) do_arm "$1" ;;
            disarm) do_disarm ;;
            start) do_start "$1" ;;
            stop) # DRAIN [DEADMAN PORT]: armed first; afterwards, who holds the port
                how=
                [ -z "${2:-}" ] || do_arm "$2"
                do_stop "$1"
                leave_mutex
                printf '%s\n' "$how"
                if [ -n "${3:-}" ]; then
                    find_port "$3" # nothing is left of the launch: whoever it is, is another
                    print_port
                fi
                ;;
            quit)
                put stopped yes
                launcher_forget
                how=
                do_stop "$1"
                rm -f launcher
                printf '%s\n' "$how"
                ;;
            promote) do_promote "$1" ;;
            confirm) # RELEASE KEEP [let-go]
                do_promote "$1"
                do_disarm
                do_prune "$2"
                [ -z "${3:-}" ] || do_unlock
                ;;
            rollback) do_rollback "$1" "${2:-}" "${3:-operator}" ;;
            prune) do_prune "$1" ;;
            adopt) do_adopt "$1" "$2" "$3" "$4" ;;
        esac
        ;;
    *) die 64 "unknown command $command" ;;
esac
