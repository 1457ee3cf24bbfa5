# SPDX-License-Identifier: GPL-3.0-or-later
# Shared by tools/lockstep and tools/test, which set `tool` and `root` and source this.
# Remarks go to standard error: standard output is the program's.

say ()
{
  printf '%s: %s\n' "$tool" "$*" >&2
}

# What a Debian package is looked for by: a program, a pkg-config name, a header.
is_there ()
{
  case $1 in
    gcc) command -v "${CC:-cc}" ;;
    libc6-dev) has_header stdio.h ;;
    ninja-build) command -v ninja ;;
    pkg-config | meson | mandoc) command -v "$1" ;;
    gnuplot-nox) command -v gnuplot ;;
    libglib2.0-dev) has_module gio-2.0 && has_module glib-2.0 ;;
    libgsl-dev) has_module gsl ;;
    libjson-glib-dev) has_module json-glib-1.0 ;;
    libcsv-dev) has_header csv.h ;;
    *) say "no test for package $1"; exit 70 ;;
  esac > /dev/null 2>&1
}

has_module ()
{
  if command -v pkg-config > /dev/null 2>&1; then
    pkg-config --exists "$1"
  else
    ls /usr/lib/*/pkgconfig/"$1".pc /usr/lib/pkgconfig/"$1".pc /usr/share/pkgconfig/"$1".pc 2> /dev/null | grep -q .
  fi
}

has_header ()
{
  if command -v "${CC:-cc}" > /dev/null 2>&1; then
    printf '#include <%s>\n' "$1" | "${CC:-cc}" -E -x c - > /dev/null 2>&1
  else
    [ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ]
  fi
}

missing_of ()
{
  for package; do
    is_there "$package" || printf '%s ' "$package"
  done
}

# How apt-get is called: as it is, or through sudo.  Fails where neither goes.
as_root ()
{
  if [ "$(id -u)" = 0 ]; then
    echo env
  elif command -v sudo > /dev/null 2>&1 && { sudo -n true 2> /dev/null || { [ -t 0 ] && [ -t 2 ]; }; }; then
    echo "sudo env"
  else
    return 1
  fi
}

# install_line PACKAGES: the one line to type.
install_line ()
{
  [ "$(id -u)" = 0 ] && before= || before='sudo '
  printf '%sapt-get update && %sapt-get install -y --no-install-recommends %s' "$before" "$before" "$*"
}

# install REQUIRED OPTIONAL: lists of packages.  Nothing missing: not one call of apt-get.
# What is optional and cannot be had is only remarked on.
install ()
{
  lacking=$(missing_of $1)
  spare=$(missing_of $2)
  all=$(echo $lacking $spare)
  [ -n "$all" ] || return 0

  if ! command -v apt-get > /dev/null 2>&1; then
    how=
    say "missing: $all (names of Debian packages); there is no apt-get here to install them with"
  elif ! how=$(as_root); then
    how=
    say "missing: $all; to install, type:"
    printf '  %s\n' "$(install_line $all)" >&2
  fi
  if [ -z "$how" ]; then
    [ -z "$lacking" ] && return 0
    exit 1
  fi

  say "installing Debian packages: $all"
  log=$(mktemp) || exit 1
  $how DEBIAN_FRONTEND=noninteractive apt-get -q update < /dev/null > "$log" 2>&1 \
    || say "apt-get update failed; trying with the lists that are there"
  if ! $how DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $all < /dev/null >> "$log" 2>&1; then
    tail -n 15 "$log" >&2
    rm -f "$log"
    [ -n "$lacking" ] || { say "could not install $all; going on without"; return 0; }
    say "could not install $all; to try by hand, type:"
    printf '  %s\n' "$(install_line $all)" >&2
    exit 1
  fi
  rm -f "$log"
  hash -r
  lacking=$(missing_of $1)
  [ -z "$lacking" ] || { say "installed, but still not found: $lacking"; exit 1; }
}

# build NAME TARGETS [MESON OPTIONS...]: build/NAME, set up once, then brought up to date; two at once wait for
# each other.  TARGETS: a list, or '' for everything.  Speaks only when it takes long or fails.
build ()
{
  name=$1 targets=$2
  shift 2
  mkdir -p "$root/build" || exit 1
  exec 9> "$root/build/$name.lock" || exit 1
  if ! flock -n 9; then
    say "waiting for another build of build/$name"
    flock 9
  fi

  # A checkout that has moved, or a set-up that was cut short, starts anew.
  if [ "$(cat "$root/build/$name.where" 2> /dev/null)" != "$root" ]; then
    say "setting up build/$name"
    rm -rf "${root:?}/build/$name" "$root/build/$name.where"
    run_logged meson setup "$root/build/$name" "$root" "$@"
    printf '%s\n' "$root" > "$root/build/$name.where"
  fi
  # what is to do is told before it is done
  [ -e "$root/build/$name/.ninja_log" ] || say "building build/$name"
  run_logged ninja -C "$root/build/$name" $targets
  exec 9>&-
}

run_logged ()
{
  if ! "$@" > "$root/build/$name.log" 2>&1 < /dev/null 9>&-; then
    cat "$root/build/$name.log" >&2
    say "failed: $*"
    exit 1
  fi
}
