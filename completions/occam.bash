# SPDX-License-Identifier: GPL-3.0-or-later
# bash completion of occam. Devices and scenarios are asked of the program itself, so that users' own appear too.
_occam()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local commands="devices occupancy predict curve sweep whatif plot doctor version help"
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
        return
    fi
    case $previous in
    --format)
        mapfile -t COMPREPLY < <(compgen -W "text json csv" -- "$current")
        return
        ;;
    --device)
        mapfile -t COMPREPLY < <(compgen -W "$(_occam_devices)" -- "$current")
        return
        ;;
    --device-file | --output)
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
        ;;
    esac
    if [[ $current == -* ]]; then
        # The options are those that the command's own help names.
        mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" help "${COMP_WORDS[1]}" 2>/dev/null |
            grep -o -E -e '--[a-z][a-z-]+' | sort -u)" -- "$current")
        return
    fi
    case ${COMP_WORDS[1]} in
    help) mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current") ;;
    devices) mapfile -t COMPREPLY < <(compgen -W "$(_occam_devices)" -- "$current") ;;
    predict | curve | sweep | whatif | plot)
        mapfile -t COMPREPLY < <(compgen -W "dsv4-flash-sparse-decode" -- "$current"
            compgen -f -X '!*.yaml' -- "$current"
            compgen -d -- "$current")
        ;;
    esac
}
_occam_devices()
{
    "${COMP_WORDS[0]}" devices --format csv 2>/dev/null | sed 1d | cut -d, -f1
}
complete -o filenames -F _occam occam
