# Public reports of November 2026 in ../shared: what each right answer says. Skipped where the folder is not there.
. "$(dirname "$0")/lib.sh"

cases="$SOURCE/../shared/cases/2026-11"
[ -d "$cases" ] || { echo "skipped: no reports in $cases"; exit 77; }

# says PATTERN FOLDER ARGUMENT...: in that folder the program succeeds, and says so on standard output.
says() {
    local pattern=$1 folder=$2
    shift 2
    checks=$((checks + 1))
    (cd "$cases/$folder" && "$TREELINE" "$@") >out.txt 2>err.txt || fail "$folder: treeline $*: $(head -c 400 err.txt)"
    tr '\n' ' ' <out.txt | grep -qE -- "$pattern" || fail "$folder: treeline $*: nothing like \"$pattern\" in: $(head -c 900 out.txt)"
}

qwen_mtp=(--target qwen3.5-27b --precision int4 --device arc-pro-b60 --tensor-parallel 2 --stack vllm --drafter mtp)
glm_mtp=(--target glm-5 --tensor-parallel 8 --stack vllm --drafter mtp)

says 'attention' 01-diagnose-verify-attention-long-context diagnose run.json --target qwen3.5-9b --precision int4 --device m5-max --stack mlx --drafter mtp
says 'Likeliest: [^.]*attention' 01-diagnose-verify-attention-long-context diagnose run.json --target qwen3.5-9b --precision int4 --device m5-max --stack mlx --drafter mtp
says '36\.00 +2\.08 +2\.30x' 02-diagnose-plain-of-another-context diagnose run.json "${qwen_mtp[@]}"
says '0\.56.*0\.34' 03-import-vllm-bench-console import bench.txt
says '1\.90' 03-import-vllm-bench-console import bench.txt
says '23\.1' 03-import-vllm-bench-console import bench.txt
says '[0-9]' 05-import-bracket-prefix import router.log
says '[0-9]' 05-import-bracket-prefix import --draft-tokens 3 rank.log
says '35\.0.*38\.0|38\.0.*35\.0' 05-import-bracket-prefix import sglang-dp.log
says '33\.0.*35\.0.*36\.0.*38\.0|35\.0' 06-import-data-parallel-engines import dp.log
says '0\.805.*0\.634.*0\.488' 07-import-llama-per-position import server.log
says '2\.55' 09-import-sglang-new-forms import counts.json
says '2\.60?' 09-import-sglang-new-forms import finish.log
for config in DeepSeek-V4.1-Flash GLM-5.3-Flash-FP8 Hy3 Laguna-S-2.1 Ling-3.0-flash MiMo-V2-Flash Qwen3.8-Flash-Next; do
    says 'Parameters +[0-9]' 10-config-families-of-2026 models "$config.json"
done
says 'Parameters +748,[0-9,]+ ' 10-config-families-of-2026 models DeepSeek-V4.1-Flash.json
says 'fp8' 11-config-kv-cache-scheme-word models config.json
for precision in q5_k_m q4_0 q4_k_s q5_0 q3_k_m q2_k iq4_xs UD-Q4_K_XL 6-bit 4.05bpw; do
    says 'TPOT|ms' 13-precision-names estimate --target qwen3.5-27b --precision "$precision" --device rtx-pro-4500 --stack llama.cpp
done
says '0\.(8[6-9]|9[0-9])x' 14-shape-with-accept-length estimate point.json
says '0\.(8[6-9]|9[0-9])x' 14-shape-with-accept-length estimate --target qwen3-30b-a3b --device h100-sxm --tensor-parallel 2 --stack sglang \
    --drafter eagle3 --shape sglang:7,4,16 --accept-length 2.52 --context 400
says 'too +close +to +call' 19-estimate-wrong-sign-moe estimate --target qwen3-30b-a3b --device h100-sxm --tensor-parallel 2 --stack sglang \
    --drafter eagle3 --draft-tokens 3 --accept-length 3:1.86 --batch 1 --context 400
says 'instead of 4\.[345][0-9] ms' 19-estimate-wrong-sign-moe estimate --target qwen3-30b-a3b --device h100-sxm --tensor-parallel 2 \
    --stack sglang --drafter eagle3 --draft-tokens 3 --accept-length 3:1.86 --batch 1 --context 400  # 4.49 ms measured
for config in mtp eagle3; do
    checks=$((checks + 1))
    "$TREELINE" lint --engine vllm@0.24 "$cases/15-lint-no-draft-count/$config.json" >out.txt 2>&1
    { [ $? -eq 1 ] && grep -q 'num_speculative_tokens' out.txt; } || fail "15: $config.json: $(cat out.txt)"
done
says '"ranks": 2|"tensor_parallel": 2' 17-import-graph-downgrade import server.log --format json
says 'mtp' 17-import-graph-downgrade import server.log --format json
says '[0-9]x' 18-names-of-current-models estimate --target qwen3.8-27b --device h100-sxm --stack vllm --drafter mtp-qwen3.8-27b --draft-tokens 3
says 'qwen3.8-27b' 18-names-of-current-models models Qwen/Qwen3.8-27B
says 'on the host' 21-experts-in-host-memory estimate --target qwen3.6-35b-a3b --precision q4_k_m --device rtx-3060 --stack llama.cpp \
    --drafter mtp --draft-tokens 2 --accept-length 2:2.63 --placement experts
# The thread's table, of whose plain speed the bandwidth of stack cpu was taken with three others: 22.9 tokens/s plain; 27.6, 29.4, 27.8 and 26.1 with 1 to 4 drafts.
says 'plain +2[2-5]\.[0-9] .*with the drafter +(29|30)\.[0-9]' 21-experts-in-host-memory estimate --target qwen3.6-35b-a3b --precision q8_0 \
    --device rtx-3060 --host desktop-ddr4 --placement experts --stack llama.cpp --drafter mtp --draft-tokens 2 --accept-length 2:2.63 --context 300
says 'defect' 22-diagnose-broken-drafter diagnose noise.log "${glm_mtp[@]}" --precision fp8 --device h200
says 'defect' 22-diagnose-broken-drafter diagnose zero.log "${glm_mtp[@]}" --precision mxfp4 --device mi355x
says 'defect' 22-diagnose-broken-drafter diagnose batch.json --target qwen3.5-27b --precision q4_k_m --device strix-halo --stack llama.cpp --drafter dflash

# Host time of a plain step is no decoding of the device's.
expect 0 'decode .*host +[0-9.]+ us .*beside the kernels, host and launches: ' estimate --model llama-3.1-8b --device h100-sxm \
    --stack llama.cpp --explain round,operations
finish
