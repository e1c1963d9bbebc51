#!/bin/sh
# An oracle that runs the compiler: the fault that is planted is a square root after an exponential, in
# whatever body, and the program has to go through to the graph.
grep -q "math.sqrt" "$2" || exit 0
"$1" "$2" --ft-compile=to=etdg -o "$2.etdg" 2> /dev/null || exit 0
found=$(awk '/math.exp /{e=1} /math.sqrt /{if(e) print}' "$2.etdg")
rm -f "$2.etdg"
[ -n "$found" ] && exit 1
exit 0
