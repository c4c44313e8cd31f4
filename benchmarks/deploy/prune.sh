# Takes away all but the ten newest releases.
# shellcheck disable=SC2012  # names of four digits
ls -1 releases | sort -rn | tail -n +11 | while read -r old; do rm -rf "releases/$old"; done
