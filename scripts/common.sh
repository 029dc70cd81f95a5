# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts here: what the build needs, and how it is installed. Source it; it does nothing by itself.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export CCACHE_NOHASHDIR=1

build_packages=(g++ cmake ninja-build pkg-config ccache git ca-certificates
    qt6-base-dev libqt6svg6-dev qt6-l10n-tools qt6-tools-dev qt6-tools-dev-tools libqcustomplot-dev libqcustomplot2.1-qt6
    libsqlite3-dev libzstd-dev zlib1g-dev libdnnl-dev liblapack-dev nlohmann-json3-dev
    fonts-inter fonts-jetbrains-mono fonts-dejavu-core)
test_packages=(libgtest-dev libbenchmark-dev clang-format python3 python3-numpy sqlite3)

say() { printf '\033[1m== %s\033[0m\n' "$*"; }

# Runs a command as root: directly, or through sudo.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "This needs root: $*" >&2
        echo "Run it yourself, then start this script again." >&2
        return 1
    fi
}

# Installs those of the given Debian packages that are not there yet.
install_missing() {
    local missing=() package
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if ! command -v apt-get >/dev/null; then
        echo "This is not a Debian system. Install the equivalents of: ${missing[*]}" >&2
        return 1
    fi
    say "Installing ${#missing[@]} Debian packages: ${missing[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# configure_and_build PRESET [TARGET…]
configure_and_build() {
    local preset=$1
    shift
    say "Configuring (preset $preset)"
    (cd "$root" && cmake --preset "$preset" -Wno-dev >"/tmp/tapescope-configure-$$.log" 2>&1) || {
        cat "/tmp/tapescope-configure-$$.log" >&2
        rm -f "/tmp/tapescope-configure-$$.log"
        return 1
    }
    rm -f "/tmp/tapescope-configure-$$.log"
    say "Building with $(nproc) jobs"
    if [ $# -gt 0 ]; then
        cmake --build "$root/build/$preset" --target "$@"
    else
        cmake --build "$root/build/$preset"
    fi
}
