# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by the tests of this folder: `work`, a temporary folder; recipes of the guide, as printed; the sweep that they train.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cli=${NORMSCOPE_CLI:-$root/build/ci/app/cli/normscope-cli}
PATH=$(dirname "$cli"):$PATH
export PATH
work=$(mktemp -d "${TMPDIR:-/tmp}/normscope-engines.XXXXXX")
chmod 755 "$work"

fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# recipe HEADING: the code block below this heading of docs/guide/automation.md, its sweep made small; at most eight lines.
recipe() {
    local text
    text=$(awk -v heading="### $1" '
        $0 == heading {inside = 1; next}
        inside && !fenced && /^#/ {exit}
        inside && /^```/ {if (fenced) exit; fenced = 1; next}
        inside && fenced {print}
        inside && !fenced && /^    / {print substr($0, 5)}' "$root/docs/guide/automation.md")
    [ -n "$text" ] || fail "docs/guide/automation.md has no recipe for $1"
    [ "$(echo "$text" | wc -l)" -le 9 ] || fail "the recipe for $1 has more than eight lines and its first"
    # shellcheck disable=SC2001
    echo "$text" | sed "s#post-ln#$work/recipe.json#; s#normscope-cli sweep $work/recipe.json#& --untimed#; s#normscope-cli sweep --out#normscope-cli sweep --untimed --out#"
}

# small_recipe STEPS: a run of about 0.2 ms a step, as $work/recipe.json.
small_recipe() {
    cat > "$work/recipe.json" <<EOF
{"format": "normscope-recipe", "version": 1, "steps": $1, "batch": 2,
 "stack": {"depth": 2, "d_model": 16, "heads": 2, "context": 16, "scheme": "post"},
 "probes": [{"id": "growth", "every": 1000}]}
EOF
}

# reference: results.csv of the guide's sweep, trained by one process.
reference() {
    normscope-cli sweep "$work/recipe.json" --untimed --grid optimizer.lr=log:1e-4:1e-1:16 --seeds 42:44 --out "$work/reference" > /dev/null
}

same_results() {
    cmp "$work/reference/results.csv" "$1/results.csv" || fail "$1/results.csv is not that of one process"
}
