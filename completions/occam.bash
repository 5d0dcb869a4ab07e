# SPDX-License-Identifier: GPL-3.0-or-later
# bash completion of occam. Commands are listed here; options, figures, devices, scenarios and the names of a scenario's
# variables are asked of the program itself, so that users' own devices and scenarios appear too.
_occam()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    local commands="devices occupancy inspect reconcile predict curve sweep whatif simulate measure calibrate validate compare hypothesis judge ledger propose tune plot report doctor version help"
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _occam_words "$commands"
        return
    fi
    # bash parts "--option=value" and "NAME=value" at the sign.
    if [[ $current == "=" || $previous == "=" ]]; then
        [[ $previous == "=" ]] && previous=${COMP_WORDS[COMP_CWORD - 2]}
        [[ $current == "=" ]] && current=
        [[ $previous == -* ]] || return # the value of a variable
    fi
    case $previous in
    --format)
        if [[ $command == report ]]; then _occam_words "html md"; else _occam_words "text json csv"; fi
        ;;
    --as) _occam_words "table loops scenario measurements curve" ;;
    --listing) _occam_words "auto ptx sass" ;;
    --arrivals) _occam_words "closed poisson gamma trace" ;;
    --lengths) _occam_words "fixed uniform geometric" ;;
    --step) _occam_words "law measured" ;;
    --find) _occam_words "max-rate" ;;
    --form) _occam_words "$(_occam_help "$command" | tr '\n' ' ' | sed -n 's/.*law of the step time: \([^;]*\);.*/\1/p' | sed 's/,/ /g; s/ or / /')" ;;
    --objective) _occam_words "time occupancy throughput" ;;
    --device) _occam_words "$(_occam_devices)" ;;
    --vary | --unsettled | --by | --across | --x | --y) _occam_words "$(_occam_variables)" ;;
    --calibration | --check)
        mapfile -t COMPREPLY < <(compgen -f -X '!*.json' -- "$current")
        COMPREPLY+=($(compgen -W "$(_occam_calibrations)" -- "$current"))
        ;;
    --scenario) _occam_scenarios ;;
    --claim) [[ $command == reconcile ]] || _occam_words "raises lowers changes" ;; # there it is free text
    --table) _occam_words "scenario calibration hypothesis prediction run sample verdict correction" ;;
    --ledger) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    --device-file | --timeline | --output | -o | --measured | --configs | --train-rows | --trace | --queue) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    --device-backend) _occam_words "cuda fake" ;;
    --hold-out) _occam_words "workload" ;;
    --predictions) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    --cache | --keep) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    -s | --set)
        compopt -o nospace 2>/dev/null
        _occam_words "$(_occam_variables | sed 's/$/=/')"
        ;;
    --terminal | --sixel | --dark | --free | --first-kernel | --resume | --check-only | --compile-only | --dry-run | --list | --loops | --skip-bad | \
        --no-baselines | --no-choice | --no-residual | --shuffle) _occam_operand ;;
    -*) ;; # every other option takes a number or an expression
    *) _occam_operand ;;
    esac
}
# An option where the word begins with a dash, else what the command takes there.
_occam_operand()
{
    if [[ $current == -* ]]; then
        # The options are those that the command's own help names.
        _occam_words "$(_occam_help "$command" | grep -o -E -e '--[a-z][a-z-]+' | sort -u)"
        return
    fi
    case $command in
    help) _occam_words "$commands" ;;
    devices) _occam_words "$(_occam_devices)" ;;
    inspect | reconcile | calibrate | validate) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    plot)
        if ((COMP_CWORD == 2)); then
            _occam_words "$(_occam_help plot | sed -n '/^Figures:/,/^$/s/^  \([a-z-]\{1,\}\) .*/\1/p')"
        else
            _occam_scenarios
            COMPREPLY+=($(compgen -f -X '!*.csv' -- "$current"))
        fi
        ;;
    simulate)
        if ((COMP_CWORD == 2)); then
            _occam_words "cta serving"
        else
            _occam_scenarios
        fi
        ;;
    predict | curve | sweep | whatif | propose | tune | report) _occam_scenarios ;;
    compare)
        _occam_scenarios
        COMPREPLY+=($(compgen -f -X '!*.csv' -- "$current"))
        ;;
    measure)
        _occam_scenarios
        COMPREPLY+=($(compgen -W "$(_occam_kernels)" -- "$current") $(compgen -f -X '!*.plan' -- "$current"))
        ;;
    esac
}
_occam_kernels()
{
    "${COMP_WORDS[0]}" measure --list --format csv 2>/dev/null | sed 1d | cut -d, -f1 | uniq
}
# The user's own; those built in are named by the program when a name is wrong.
_occam_calibrations()
{
    local folder=${XDG_CONFIG_HOME:-$HOME/.config}/occam/calibrations file
    for file in "$folder"/*.json; do
        [[ -e $file ]] && file=${file##*/} && echo "${file%.json}"
    done
}
_occam_words()
{
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}
_occam_help()
{
    "${COMP_WORDS[0]}" help "$1" 2>/dev/null
}
_occam_devices()
{
    "${COMP_WORDS[0]}" devices --format csv 2>/dev/null | sed 1d | cut -d, -f1
}
# Names built in, as doctor lists them, then files and folders.
_occam_scenarios()
{
    local names
    names=$("${COMP_WORDS[0]}" doctor --format csv 2>/dev/null | sed -n 's/^scenarios,found,"\{0,1\}built in: \([^"]*\)".*/\1/p' | tr -d ,)
    mapfile -t COMPREPLY < <(compgen -W "$names" -- "$current"
        compgen -f -X '!*.yaml' -- "$current"
        compgen -d -- "$current")
}
# Knobs and workload variables of the scenario on the command line, from the columns knobs.NAME and workload.NAME;
# nothing where no scenario stands there yet.
_occam_variables()
{
    local scenario=${COMP_WORDS[2]}
    [[ $command == plot || $command == simulate ]] && scenario=${COMP_WORDS[3]}
    "${COMP_WORDS[0]}" predict "$scenario" --format csv 2>/dev/null | head -n 1 | tr , '\n' |
        sed -n -e 's/^knobs\.//p' -e 's/^workload\.//p'
}
complete -o filenames -F _occam occam
