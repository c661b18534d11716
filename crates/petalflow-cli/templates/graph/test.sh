#!/bin/sh
# Runs the graph and compares its result.
set -eu
cd "$(dirname "$0")"
petalflow validate --strict NAME.graph.yaml
result=$(petalflow run NAME.graph.yaml --input name=Ann --tool count=./count.sh --answer review=approve --var output)
expected='Dear Ann, how are you? (22 characters, sent: true)'
if [ "$result" != "$expected" ]; then
    echo "expected: $expected"
    echo "found:    $result"
    exit 1
fi
echo "the test of NAME passed"
