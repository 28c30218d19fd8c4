# What `treeline explore` refuses, and what it writes: a page, or a sentence where the module was left out (wasm/README.md).
. "$(dirname "$0")/lib.sh"
question=(--target qwen3-8b --stack vllm --concurrency 16 --prompt 500 --output-tokens 200)

expect 2 'a page is about one platform' explore "${question[@]}" --device h100-sxm,h200
cp "$SOURCE/examples/runs/vllm-16937.json" run.json
expect 2 'a page cannot read "run.json"; drop the file onto it' explore "${question[@]}" --device h100-sxm --drafter eagle3 --acceptance run.json
expect 0 '"target": "llama-3.1-8b"' explore --print-input --output -
expect 0 '"device": "l40s"' explore "${question[@]}" --device l40s --print-input --output -

"$TREELINE" explore "${question[@]}" --device h200 --output page.html >out.txt 2>err.txt
code=$?
checks=$((checks + 1))
case $code in
    0) grep -q '^Live page: page.html$' out.txt && head -c 15 page.html | grep -q '<!doctype html>' || fail "no page: $(cat out.txt)" ;;
    2) grep -q 'built without the live page' err.txt && [ ! -e page.html ] || fail "$(cat err.txt)" ;;
    *) fail "$(cat err.txt)" ;;
esac

# A page of many drafters is within 1.6 MB, too.
if [ $code = 0 ]; then
    drafters=()
    for length in $(seq 101 260); do
        drafters+=(--drafter "{\"kind\": \"eagle3\", \"name\": \"head-$length\"}" --accept-length "4:2.$length")
    done
    checks=$((checks + 1))
    "$TREELINE" explore "${question[@]}" --device h200 "${drafters[@]}" --output many.html >out.txt 2>err.txt || fail "$(head -c 300 err.txt)"
    [ "$(wc -c <many.html)" -le 1600000 ] || fail "a page of $(wc -c <many.html) bytes"
fi

# So is one whose chart has more than a hundred points of plain decoding.
if [ $code = 0 ]; then
    checks=$((checks + 1))
    "$TREELINE" explore --target deepseek-r1 --device h200 --gpus 8 --output front.html >out.txt 2>err.txt || fail "$(head -c 300 err.txt)"
    [ "$(wc -c <front.html)" -le 1600000 ] || fail "a page of $(wc -c <front.html) bytes"
fi

# A report with the page inside, which asks the same of a question.
expect 2 '--live: a page is about one platform' report "${question[@]}" --device h100-sxm,h200 --live --output report.html
expect 2 '--live: is of one engine' report "${question[@]}" --device h200 --engine all --live --output report.html
"$TREELINE" report "${question[@]}" --device h200 --live --output report.html >out.txt 2>err.txt
code=$?
checks=$((checks + 1))
case $code in
    0) [ "$(grep -c 'id="live-page"' report.html)" = 1 ] && grep -q "'wasm-unsafe-eval' blob:; worker-src blob:; frame-src blob:" report.html || fail "no page inside" ;;
    2) grep -q 'built without the live page' err.txt && [ ! -e report.html ] || fail "$(cat err.txt)" ;;
    *) fail "$(cat err.txt)" ;;
esac
"$TREELINE" report "${question[@]}" --device h200 --output report.html >out.txt 2>err.txt
! grep -q 'wasm-unsafe-eval' report.html || fail "a report without the page lets WebAssembly run"

finish
