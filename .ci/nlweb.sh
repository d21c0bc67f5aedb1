#!/usr/bin/env bash
# NLWeb's own packages from PyPI, the bridge as its users install it, and the
# tests of both. Needs Go, and Python 3.11 or newer; without its module venv,
# apt-get. Runs from any directory; .ci/run calls it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

data="$(realpath -m "${SITEPROVIDER_DATA:-$PWD/../shared/data}")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

fail() {
	printf '.ci/nlweb.sh: %s\n' "$*" >&2
	exit 1
}

if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3 python3-venv
fi
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "$(python3 --version) is older than 3.11"

CGO_ENABLED=0 go build -o "$work/siteprovider" ./cmd/siteprovider

# A build leaves files beside its sources, so it gets a copy.
cp -R plugin/python "$work/bridge"
rm -rf "$work"/bridge/build "$work"/bridge/*.egg-info
python3 -m venv "$work/venv"
python="$work/venv/bin/python"
"$python" -m pip install --quiet --disable-pip-version-check nlweb-core==0.7.0 nlweb-network==0.7.0 "$work/bridge"
(cd "$work" && "$python" -c 'import siteprovider_nlweb as m; print("installed:", m.__file__.split("/venv/")[1])')

export PYTHONDONTWRITEBYTECODE=1 SITEPROVIDER="$work/siteprovider" SITEPROVIDER_DATA="$data"
cd plugin/python/tests
"$python" -m unittest -v 2>&1 | tee "$work/tests.txt" || fail "the tests failed"
if grep -E '\.\.\. skipped ' "$work/tests.txt"; then
	[ ! -d "$data" ] || fail "tests were skipped"
	echo "no data in $data: real pages were not tried"
fi
