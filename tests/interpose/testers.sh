#!/bin/sh
# testers.sh LIBRARY FOLDER LETTER: the BLAS's own test programs of one type (Debian: libblas-test, in FOLDER) over LIBRARY.
set -eu
library=$1 folder=$2 letter=$3
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd -- "$work"
LD_PRELOAD=$library "$folder/xblat1$letter" >level1
for level in 2 3; do
  LD_PRELOAD=$library HEDDLE_BLAS_REPORT=1 "$folder/xblat$level$letter" <"$folder/${letter}blat$level.in" >>printed 2>report
  grep -qi "${letter}trs" report || { echo "level $level did not call the library" >&2; exit 1; }
done
cat level1 ./*blat?.out
if cat level1 printed ./*blat?.out | grep -e 'FAIL' -e '\*\*\*\*'; then exit 1; fi
[ "$(cat level1 ./*blat?.out | grep -c PASS)" -ge 30 ]
