# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of lockstep for bash.  Commands, options, keys and names are asked of the program.

# Names of `lockstep list KIND`: the first column.
_lockstep_names ()
{
  lockstep list "$1" --format csv 2> /dev/null | sed '1d; s/,.*//'
}

# Operations of collectives, from the second column of `list algorithms`.
_lockstep_operations ()
{
  lockstep list algorithms --format csv 2> /dev/null | awk -F, 'NR > 1 { print $2 }' | tr ' ' '\n' | sort -u
}

# Values of a key: its choices, or the names that it may take.
_lockstep_values ()
{
  case $1 in
    *.machine) _lockstep_names machines ;;
    *.gpu) _lockstep_names gpus ;;
    *transport) _lockstep_names transports ;;
    workload.name) _lockstep_names workloads ;;
    strategy.kind) _lockstep_names strategies ;;
    collective.algorithm) echo auto; _lockstep_names algorithms ;;
    *) lockstep list keys "${1%%.*}" --format csv 2> /dev/null \
         | awk -F, -v key="$1" '$1 == key && $2 ~ /[|]/ { gsub (/[|]/, "\n", $2); print $2 }' ;;
  esac
}

# COMMAND OPTION: what stands behind an option in the command's help, "FILE" or "table|csv|json"; nothing: it takes no value.
_lockstep_argument ()
{
  lockstep "$1" --help 2> /dev/null | awk -v option="$2" '
    /^  -/ {
      for (i = 1; $i ~ /^-/; i++) { name = $i; sub (/,$/, "", name); if (name == option) found = 1 }
      if (found) { if (substr ($0, index ($0, $(i - 1)) + length ($(i - 1)), 2) != "  ") print $i; exit }
    }'
}

_lockstep_options ()
{
  lockstep "$1" --help 2> /dev/null | awk '/^  -/ { for (i = 1; $i ~ /^-/; i++) { sub (/,$/, "", $i); print $i } }'
}

# Offers the words that begin with CUR.
_lockstep_offer ()
{
  local cur=$1 IFS=$'\n'
  COMPREPLY=($(compgen -W "$2" -- "$cur"))
}

_lockstep_files ()
{
  local IFS=$'\n'
  compopt -o filenames 2> /dev/null
  COMPREPLY=($(compgen -f -- "$1"))
}

# group.key=value, which bash hands over in one word or cut at '='.
_lockstep_set ()
{
  local cur=$1 key=$2 whole=$3
  if [[ -n $key ]]; then
    _lockstep_offer "$cur" "$(_lockstep_values "$key")"
    [[ -z $whole ]] || COMPREPLY=("${COMPREPLY[@]/#/$key=}")
  else
    compopt -o nospace 2> /dev/null
    _lockstep_offer "$cur" "$(_lockstep_names keys | sed 's/\*$//; t; s/$/=/')"
  fi
}

# The value of an option.
_lockstep_option_value ()
{
  local cur=$1 command=$2 option=$3 argument
  case $option in
    --set) _lockstep_set "$cur" '' ''; return ;;
    --machine) _lockstep_offer "$cur" "$(_lockstep_names machines)"; return ;;
    --algorithm) _lockstep_offer "$cur" "$(_lockstep_values collective.algorithm)"; return ;;
    --protocol) _lockstep_offer "$cur" "$(_lockstep_values collective.protocol)"; return ;;
  esac
  argument=$(_lockstep_argument "$command" "$option")
  case $argument in
    *\|*) _lockstep_offer "$cur" "${argument//|/$'\n'}" ;;
    FILE*) _lockstep_files "$cur" ;;
  esac
}

# CUR COMMAND N FIRST: argument number N, from 0, that is no option; FIRST: the first of them.
_lockstep_argument_of ()
{
  local cur=$1 command=$2 n=$3 first=$4 usage
  usage=$(lockstep "$command" --help 2> /dev/null | sed -n '1s/.*\[options\] //p')
  usage=${usage%% *}
  case $command:$n in
    new:0) _lockstep_offer "$cur" "$(_lockstep_names strategies; echo reduction-server)"; return ;;
    collective:0) _lockstep_offer "$cur" "$(_lockstep_operations)"; return ;;
    list:1) [[ $first != keys ]] || _lockstep_offer "$cur" "$(_lockstep_names keys | sed 's/\..*//' | sort -u)"; return ;;
  esac
  if [[ $n -eq 0 && $usage == *\|* ]]; then
    _lockstep_offer "$cur" "${usage//|/$'\n'}"
  else
    _lockstep_files "$cur"
  fi
}

_lockstep ()
{
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} i n=0 first=
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    _lockstep_offer "$cur" "$(lockstep --help 2> /dev/null | awk '/^$/ { n++ } n == 1 && /^  / { print $1 }'
      printf '%s\n' --help --version -h)"
    return
  fi
  # Bash cuts words at '='.
  if [[ $cur == = ]]; then
    cur= i=$((COMP_CWORD - 1))
  elif [[ $prev == = ]]; then
    i=$((COMP_CWORD - 2))
  elif [[ $prev == --set && $cur == *=* ]]; then
    _lockstep_set "${cur#*=}" "${cur%%=*}" whole
    return
  else
    i=
  fi
  if [[ -n $i ]]; then
    case ${COMP_WORDS[i]} in
      --*) _lockstep_option_value "$cur" "$command" "${COMP_WORDS[i]}" ;;
      *) _lockstep_set "$cur" "${COMP_WORDS[i]}" '' ;;
    esac
    return
  fi
  if [[ $prev == -* && -n $(_lockstep_argument "$command" "$prev") ]]; then
    _lockstep_option_value "$cur" "$command" "$prev"
    return
  fi
  if [[ $cur == -* ]]; then
    _lockstep_offer "$cur" "$(_lockstep_options "$command")"
    return
  fi
  for ((i = 2; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      =) i=$((i + 1)) ;;
      -*) [[ -z $(_lockstep_argument "$command" "${COMP_WORDS[i]}") ]] || i=$((i + 1)) ;;
      *) [[ $n -gt 0 ]] || first=${COMP_WORDS[i]}; n=$((n + 1)) ;;
    esac
  done
  _lockstep_argument_of "$cur" "$command" "$n" "$first"
}
complete -F _lockstep lockstep
