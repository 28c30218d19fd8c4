# `treeline sweep --top N --by COLUMN` and `--pareto`: the lists equal what a sort of the complete CSV gives, and bad columns are
# refused.
. "$(dirname "$0")/lib.sh"

cat >space.json <<'END'
{"axes": {"target": ["llama-3-8b"], "device": ["h100-sxm", "rtx-4090"], "stack": ["vllm", "sglang"], "drafter": [
  {"name": "1B", "kind": "model", "model": "llama-3.2-1b", "acceptance": {"geometric": 0.8}},
  {"name": "ngram", "kind": "ngram", "acceptance": {"geometric": 0.4}}],
  "draft_tokens": {"from": 1, "to": 6}, "batch": {"from": 1, "to": 24}, "context": {"from": 0, "to": 24000, "step": 1000}}}
END
cat >loads.json <<'END'
{"axes": {"target": "llama-3-8b", "device": ["h100-sxm", "l40s"], "drafter": [
  {"name": "ngram", "kind": "ngram", "acceptance": {"geometric": 0.4}}],
  "draft_tokens": {"from": 0, "to": 4}, "concurrency": {"from": 1, "to": 60}, "context": [1000, 8000]}, "prompt_tokens": 1000, "output_tokens": 200}
END
"$TREELINE" sweep loads.json --csv loads.csv >/dev/null || fail "the sweep over loads did not run"
"$TREELINE" sweep space.json --csv all.csv >/dev/null || fail "the sweep did not run"

# column_number NAME [CSV]
column_number() { head -1 "${2:-all.csv}" | tr ',' '\n' | grep -nx "$1" | cut -d: -f1; }
fits=$(column_number fits)

# listed COLUMN SORT: the 25 best values are those of a sort of all rows that fit. (Values of equal rank may belong to either row
# where single precision does not tell them apart, so values are compared; unit tests compare the rows.)
listed() {
    checks=$((checks + 1))
    local number space=${3:-space} csv=${4:-all.csv}
    number=$(column_number "$1" "$csv")
    tail -n +2 "$csv" | awk -F, -v c="$number" -v f="$(column_number fits "$csv")" '$f == 1 && $c != "" {print $c}' | LC_ALL=C sort "$2" | head -25 >expected.txt
    "$TREELINE" sweep "$space.json" --top 25 --by "$1" --format csv | tail -n +2 | cut -d, -f"$number" >got.txt
    [ "$(wc -l <got.txt)" -eq 25 ] && cmp -s expected.txt got.txt || fail "--by $1: $(head -3 got.txt | tr '\n' ' ') instead of $(head -3 expected.txt | tr '\n' ' ')"
}
for column in batch context speedup accept_length tokens_per_s_user tokens_per_s_device tokens_per_joule; do
    listed $column -gr
done
for column in draft_tokens break_even_accept_length tpot_ms draft_ms verify_ms rollback_ms host_ms memory_gb energy_j_per_token \
    usd_per_million_tokens wasted_draft_share; do
    listed $column -g
done
for column in ttft_ms prefill_share itl_ms queued; do
    listed $column -g loads loads.csv
done
for column in gain load; do
    listed $column -gr loads loads.csv
    expect 2 "$column is known under a load: state concurrency or arrival_rate" sweep space.json --by $column
done

# The Pareto set: sorted by the first column, every point that is better in the second than all before it.
checks=$((checks + 1))
user=$(column_number tokens_per_s_user) energy=$(column_number energy_j_per_token)
tail -n +2 all.csv | awk -F, -v f="$fits" '$f == 1' | LC_ALL=C sort -t, -k"$user","$user"gr -k"$energy","$energy"g |
    awk -F, -v u="$user" -v e="$energy" '$e != "" && (best == "" || $e + 0 < best + 0) {best = $e; print $u "," $e}' >expected.txt
"$TREELINE" sweep space.json --pareto tokens_per_s_user,energy_j_per_token --format csv | tail -n +2 | cut -d, -f"$user","$energy" >got.txt
[ -s got.txt ] && cmp -s expected.txt got.txt || fail "the Pareto set: $(diff expected.txt got.txt | head -4)"

# The same lists with any number of threads, and as table and JSON.
checks=$((checks + 1))
for threads in 1 3; do
    "$TREELINE" sweep space.json --top 7 --by memory_gb --pareto tpot_ms,usd_per_million_tokens --threads $threads --format json >$threads.json
done
cmp -s 1.json 3.json || fail "three threads list other points than one"
[ "$("$JSON_GET" 1.json /summary/best_by/better)" = lower ] || fail "the JSON does not say which way the list is ordered"
expect 0 'The best 3 by usd_per_million_tokens \(lower is better\)' sweep space.json --top 3 --by usd_per_million_tokens
expect 0 'The Pareto set of tpot_ms \(lower is better\) and tokens_per_s_device \(higher' sweep space.json --pareto tpot_ms,tokens_per_s_device
expect 0 'not listed; see --ignore-memory' sweep space.json
expect 0 'also listed.* no *$' sweep space.json --by memory_gb --top 100000 --ignore-memory

expect 2 'no numeric column "tokens_per_s_devic"; did you mean "tokens_per_s_device"' sweep space.json --by tokens_per_s_devic
expect 2 'no numeric column "drafter"; it has draft_tokens, batch' sweep space.json --by drafter
expect 2 'needs two columns' sweep space.json --pareto tpot_ms
expect 2 'names tpot_ms twice' sweep space.json --pareto tpot_ms,tpot_ms
expect 2 'did you mean "memory_gb"' sweep space.json --pareto memory_g,tpot_ms
expect 2 'holds one list' sweep space.json --top 3 --pareto tpot_ms,memory_gb --format csv
grep -v energy_per_ "$SOURCE/hardware/gpu/a10g.json" >mine.json
sed 's/"h100-sxm", "rtx-4090"/".\/mine.json"/' space.json >unknown.json
expect 2 'can be ranked by energy_j_per_token: the description of mine' sweep unknown.json --by energy_j_per_token
sed 's/"rtx-4090"/".\/mine.json"/' space.json >partly.json
expect 0 'Not listed: points on mine, whose description lacks what energy_j_per_token needs' sweep partly.json --by energy_j_per_token

finish
