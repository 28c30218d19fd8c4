// Does lint find the mistakes that people make in SGLang's flags?
#include <catch2/catch.hpp>

#include "lint_findings.h"

namespace lint_sglang_test {

using namespace treeline;
using namespace treeline::engines;
using namespace treeline::testing;

TEST_CASE("SGLang's flags") {
    const std::string eagle = "--speculative-algorithm EAGLE3 --speculative-draft-model-path d ";
    const std::string chain = eagle + "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4 ";
    CHECK(findings(chain) == "");
    CHECK(finds(chain + "--pp-size 2",
                "contradiction: --pp-size above 1 is rejected with speculation unless SGLANG_ENABLE_PP_SPEC=1"));
    CHECK(findings("SGLANG_ENABLE_PP_SPEC=1 python -m sglang.launch_server --pp-size 2 " + chain) == "");
    CHECK(finds(chain + "--pipeline-parallel-size 2", "--pp-size above 1 is rejected with speculation", "sglang@0.5.11"));
    CHECK(finds(chain + "--enable-mixed-chunk", "is disabled by speculation"));
    CHECK(finds(eagle + "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 8",
                "SGLang sets it to steps + 1 = 4"));
    CHECK(finds(eagle + "--speculative-num-steps 3", "give all three, or none"));
    CHECK(finds(eagle + "--speculative-num-steps 1 --speculative-eagle-topk 2 --speculative-num-draft-tokens 16",
                "cannot be reached"));
    CHECK(finds("--speculative-algorithm EAGLE3", "missing: --speculative-draft-model-path"));
    CHECK(finds("--speculative-algorithm EGALE3 --speculative-draft-model-path d", "did you mean \"EAGLE3\"?"));
    CHECK(finds(chain + "--speculative-num-draft-token-count 3", "unknown: --speculative-num-draft-token-count"));
    CHECK(finds("--speculative-algorithm NGRAM --speculative-draft-model-path d --speculative-eagle-topk 2",
                "ignored: --speculative-eagle-topk is overwritten"));
    CHECK(finds(chain + "--speculative-ngram-capacity 5", "is not read by EAGLE3"));
    CHECK(finds(chain + "--speculative-token-map f", "ignored: --speculative-token-map"));
    CHECK(finds("--speculative-algorithm NGRAM --enable-dp-attention", "is rejected with NGRAM"));
    CHECK(finds("--speculative-algorithm NGRAM --speculative-ngram-branch-length 4", "was removed in 0.5.10"));
    CHECK(findings("--speculative-algorithm NGRAM --speculative-ngram-branch-length 4", "sglang@0.5.9") == "");
    CHECK(notes("python -m sglang.launch_server --model m").find("Nothing is drafted") == 0);
    CHECK(findings("--speculative-algorithm UNO --uno-lora-path d") == "");
    CHECK(findings(chain + "--speculative-dsa-topk-backend torch --speculative-enable-w4a4-mxfp4-megamoe") == "");
    CHECK(findings(chain + "--speculative-dflash-draft-window-size 512") == "");
    CHECK(notes(chain + "--speculative-dflash-draft-window-size 512").find("is an old name") != std::string::npos);
    CHECK(findings(chain + "--speculative-draft-window-size 512") == "");
    CHECK(finds(chain + "--speculative-draft-sink-size 4", "ignored: --speculative-draft-sink-size is not read by EAGLE3"));
}

TEST_CASE("SGLang verifies blocks of chains, without thresholds") {
    const std::string block = " --speculative-use-block-verification";
    const std::string chain =
        "--speculative-algorithm NEXTN --speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4";
    CHECK(findings(chain + block) == "");
    CHECK(findings("--speculative-algorithm DFLASH --speculative-draft-model-path d" + block) == "");
    CHECK(finds("--speculative-algorithm NGRAM" + block, "is rejected with NGRAM"));
    CHECK(finds(chain + block + " --speculative-accept-threshold-acc 0.5", "is rejected together with acceptance thresholds"));
    CHECK(
        finds("--speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk 2 "
              "--speculative-num-draft-tokens 6" +
                  block,
              "needs --speculative-eagle-topk 1"));
    CHECK(finds(chain + block, "unknown: --speculative-use-block-verification", "sglang@0.5.11"));
}

TEST_CASE("flags that a trainer hands on to SGLang or vLLM") {
    const std::string slime =
        "ARGS=(\n  --rollout-num-gpus 1\n  --sglang-mem-fraction-static 0.6\n  --sglang-speculative-algorithm EAGLE\n"
        "  --sglang-speculative-num-steps 3\n  --sglang-speculative-eagle-topk 1\n"
        "  --sglang-speculative-num-draft-tokens 8\n)\n";
    CHECK(finds(slime, "SGLang sets it to steps + 1 = 4"));
    CHECK_FALSE(finds(slime, "rollout"));
    CHECK(finds("--vllm-max-num-seqs 8 --vllm-speculative-config '{\"method\": \"ngrm\", \"num_speculative_tokens\": 3}'",
                "did you mean \"ngram\"?"));
}

TEST_CASE("SGLang's adaptive steps and their file") {
    const std::string chain =
        "--speculative-algorithm EAGLE --speculative-draft-model-path d --speculative-num-steps 5 --speculative-eagle-topk 1 "
        "--speculative-num-draft-tokens 6 ";
    const std::string slots = R"({"1": {"candidate_steps": [5]}, "22": {"candidate_steps": [2]}})";
    const NamedFiles files = {{"slots.json", slots}, {"other.json", R"({"1": {"candidate_steps": [3]}})"}};
    CHECK(findings(chain + "--speculative-adaptive --speculative-adaptive-config slots.json", "", files) == "");
    CHECK(finds(chain + "--speculative-adaptive --speculative-adaptive-config other.json", "is 5, which is not a candidate", "",
                files));
    CHECK(finds(chain + "--speculative-adaptive-config slots.json", "is not read without --speculative-adaptive"));
    CHECK(finds(chain + "--speculative-adaptive --enable-dp-attention", "does not go with --enable-dp-attention"));
    CHECK(finds("--speculative-algorithm STANDALONE --speculative-draft-model-path d --speculative-adaptive",
                "works only with EAGLE, EAGLE3"));
    CHECK(finds(chain + "--speculative-adaptive", "was added in 0.5.11", "sglang@0.5.9"));
    CHECK(finds(chain + "--speculative-adaptive", "needs --disable-overlap-schedule", "sglang@0.5.11"));
    CHECK(finds(slots, "slots by batch size came later", "sglang@0.5.11"));
    CHECK(finds(R"({"8": {"candidate_steps": [5]}})", "batches below 8 take the slot of 8"));
    CHECK(finds(R"({"1": {"candidate_steps": []}})", "must be a list of whole numbers"));
    CHECK(finds(R"({"1": {"candidate_steps": [1], "ema_alfa": 0.2}})", "did you mean \"ema_alpha\"?"));
    CHECK(finds(R"({"1": {"candidate_steps": [1]}, "strategy": "fast"})", "must be ema or throughput_aware"));
}

TEST_CASE("SGLang's cost tables") {
    const std::string sampled =
        R"({"sample_batch_tokens": [8, 16, 64, 256], "sample_steps_per_sec": [61.2, 60.8, 55.1, 31.0], "max_batch_tokens": 256})";
    CHECK(findings(sampled).empty());
    CHECK(
        findings(
            R"({"bias_seconds": 0.01, "bs_probes": [1, 8], "alpha_seconds": [0.0, 0.0004], "m_probes": [8, 64], "theta_seconds": [0.0, 0.002]})")
            .empty());
    CHECK(finds(sampled, "--speculative-dspark-sps-table-path does not exist in SGLang 0.5.9", "sglang@0.5.9"));
    CHECK(finds(R"({"sample_batch_tokens": [8, 8], "sample_steps_per_sec": [61.2, 60.8]})",
                "sample_batch_tokens must grow strictly"));
    CHECK(
        finds(R"({"sample_batch_tokens": [8, 16], "sample_steps_per_sec": [61.2]})", "as many numbers as sample_batch_tokens"));
    CHECK(finds(R"({"sample_batch_tokens": [8, 16], "sample_steps_per_sec": [61.2, 0]})",
                "sample_steps_per_sec must lie above 0"));
    CHECK(finds(R"({"sample_batch_tokens": [8, 16], "sample_steps_per_sec": [61.2, 60.8], "max_batch_tokens": 8})",
                "is less than the last"));
    CHECK(finds(R"({"sample_batch_tokens": "8"})", "must be a list of numbers"));
    CHECK(finds(R"({"sample_batch_tokens": [8]})", "sample_steps_per_sec is missing"));
    CHECK(finds(
        R"({"bias_seconds": -1, "bs_probes": [1], "alpha_seconds": [0], "m_probes": [8], "theta_seconds": [0], "tetha": 1})",
        "bias_seconds must be a number of seconds"));
    CHECK(finds(R"({"bias_seconds": 1, "bs_probes": [1], "alpha_seconds": [0], "m_probes": [8], "tetha_seconds": [0]})",
                "did you mean \"theta_seconds\""));
}

TEST_CASE("SGLang's replay and multi-layer drafters take chains only") {
    const std::string serve = "python3 -m sglang.launch_server --model m ";
    CHECK(finds(serve + "--speculative-algorithm NGRAM --enable-linear-replayssm-spec", "replays chains only, and NGRAM"));
    const std::string eagle = serve + "--speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk ";
    CHECK(
        finds(eagle + "4 --speculative-num-draft-tokens 16 --enable-linear-replayssm-spec", "set --speculative-eagle-topk 1"));
    CHECK(findings(eagle + "1 --speculative-num-draft-tokens 4 --enable-linear-replayssm-spec") == "");
    CHECK(finds(serve + "--speculative-algorithm EAGLE --enable-multi-layer-eagle", "missing: --speculative-num-steps"));
    CHECK(finds(eagle + "1 --speculative-num-draft-tokens 4 --disable-cuda-graph", "downgrade: --disable-cuda-graph"));
}

TEST_CASE("SGLang's attention back ends that take no trees") {
    const std::string serve = "python3 -m sglang.launch_server --model m ";
    const std::string steps = serve + "--speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk ";
    const std::string tree = steps + "4 --speculative-num-draft-tokens 16 ",
                      chain = steps + "1 --speculative-num-draft-tokens 4 ";
    for (const char* flag : {"--attention-backend", "--decode-attention-backend", "--prefill-attention-backend"}) {
        CHECK(finds(tree + flag + " trtllm_mha",
                    std::string("contradiction: ") + flag + " is trtllm_mha, which verifies chains"));
        CHECK(findings(chain + flag + " trtllm_mha") == "");
    }
    const std::string pages = "which verifies no trees on pages of several tokens";
    for (const char* own : {"trtllm_mla", "flashmla", "cutlass_mla"}) {  // pages of 32, 64 and 128 tokens of themselves
        CHECK(finds(tree + "--attention-backend " + own, pages));
        CHECK(findings(chain + "--page-size 64 --attention-backend " + own) == "");
    }
    CHECK(finds(tree + "--page-size 16 --attention-backend torch_native", pages));
    CHECK(findings(tree + "--page-size 1 --attention-backend torch_native") == "");
    for (const char* takes : {"fa3", "flashinfer", "triton"}) {
        CHECK(findings(tree + "--page-size 64 --attention-backend " + takes) == "");
    }
    CHECK(findings(tree + "--page-size 64") == "");  // the back end is SGLang's choice
    const std::string lookup = serve + "--speculative-algorithm NGRAM --page-size 64 --attention-backend ";
    CHECK(finds(lookup + "fa3", "set --speculative-ngram-max-bfs-breadth 1, or take flashinfer"));
    CHECK(findings(lookup + "flashinfer") == "");
    CHECK(findings(lookup + "fa3 --speculative-ngram-max-bfs-breadth 1") == "");
}

TEST_CASE("SGLang's one pool of memory takes chains") {
    const std::string serve = "python3 -m sglang.launch_server --model m --enable-unified-memory ";
    const std::string steps = serve + "--speculative-algorithm EAGLE --speculative-num-steps 3 --speculative-eagle-topk ";
    CHECK(finds(steps + "4 --speculative-num-draft-tokens 16", "contradiction: --enable-unified-memory is refused with trees"));
    CHECK(findings(steps + "1 --speculative-num-draft-tokens 4") == "");
    CHECK(notes(steps + "1 --speculative-num-draft-tokens 4").find("goes with DSPARK alone") != std::string::npos);
    CHECK(notes(serve + "--speculative-algorithm DSPARK --speculative-draft-model-path d") == "");
}

TEST_CASE("SGLang's replay caches and captured batches") {
    const std::string dspark =
        "python3 -m sglang.launch_server --model m --speculative-algorithm DSPARK "
        "--speculative-draft-model-path d ";
    CHECK(finds(dspark + "--enable-linear-replayssm-spec --linear-replayssm-cache-len 16",
                "value: --linear-replayssm-cache-len is 16, too short"));
    CHECK(findings(dspark + "--enable-linear-replayssm-spec --linear-replayssm-cache-len 32") == "");
    CHECK(finds(dspark + "--linear-replayssm-cache-len 32", "ignored: --linear-replayssm-cache-len"));
    CHECK(finds(dspark + "--disable-cuda-graph-padding", "downgrade: --disable-cuda-graph-padding"));
    CHECK(finds(dspark + "--cuda-graph-max-bs 16 --max-running-requests 64", "raise it to 64"));
    CHECK(findings(dspark + "--cuda-graph-max-bs 64 --max-running-requests 64") == "");
    CHECK(finds(dspark + "--cuda-graph-max-bs 64", "ignored: --cuda-graph-max-bs is 64, but with speculation"));
    CHECK(findings(dspark + "--cuda-graph-max-bs 48") == "");
}

TEST_CASE("requests are those of all replicas, graphs those of each; a server for prefill needs none") {
    const std::string drafts =
        "python3 -m sglang.launch_server --model-path m --speculative-algorithm EAGLE --speculative-num-steps 2 "
        "--speculative-eagle-topk 1 --speculative-num-draft-tokens 3 ";
    const std::string groups = drafts + "--tp-size 48 --dp-size 48 --enable-dp-attention --max-running-requests 6144 ";
    CHECK(findings(groups + "--cuda-graph-max-bs 128") == "");
    CHECK(finds(groups + "--cuda-graph-max-bs 64", "raise it to 128"));
    CHECK(finds(drafts + "--dp-size 48 --max-running-requests 6144 --cuda-graph-max-bs 128", "raise it to 6144"));
    CHECK(finds(drafts + "--dp-size 8 --enable-dp-attention --cuda-graph-max-bs 16", "at most 48 requests over 8 replicas"));
    // A value that is not given is one.
    CHECK(findings(drafts + "--max-running-requests $N --cuda-graph-max-bs 64") == "");
    CHECK(findings(drafts + "--disaggregation-mode prefill --disable-cuda-graph") == "");
    CHECK(finds(drafts + "--disaggregation-mode decode --disable-cuda-graph", "downgrade: --disable-cuda-graph"));
}

TEST_CASE("numbers of speculation with which SGLang does not start") {
    const std::string serve =
        "python3 -m sglang.launch_server --model m --speculative-algorithm EAGLE3 --speculative-draft-model-path x ";
    const auto triple = [&](const std::string& steps, const std::string& top_k, const std::string& tokens) {
        return serve + "--speculative-num-steps " + steps + " --speculative-eagle-topk " + top_k +
               " --speculative-num-draft-tokens " + tokens;
    };
    const std::string steps = "value: --speculative-num-steps must be a whole number above 0, not ";
    CHECK(findings(triple("three", "1", "4")) == steps + "three.\n");
    CHECK(findings(triple("3.5", "1", "4")) == steps + "3.5.\n");
    CHECK(findings(triple("-3", "1", "4")) == steps + "-3.\n");
    CHECK(findings(triple("3", "0", "4")) == "value: --speculative-eagle-topk must be a whole number above 0, not 0.\n");
    CHECK(findings(triple("3", "1", "abc")) ==
          "value: --speculative-num-draft-tokens must be a whole number above 0, not abc.\n");
    CHECK(findings(triple("3", "4", "-8")) ==
          "value: --speculative-num-draft-tokens must be a whole number above 0, not -8.\n");
    CHECK(findings(triple("3", "1", "4") + " --speculative-num-steps 3") ==
          "contradiction: --speculative-num-steps appears twice; only the last one counts.\n");
    CHECK(findings(triple("3", "1", "4")) == "");
    CHECK(findings(triple("3", "1", "$TOKENS")) == "");
    CHECK(findings(triple("{steps}", "1", "4")) == "");
    CHECK(finds(serve + "--speculative-num-steps --speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
                "missing: --speculative-num-steps needs a value, a whole number above 0"));
    CHECK(finds(triple("3", "1", "4") + " --speculative-accept-threshold-single 1.5",
                "value: --speculative-accept-threshold-single must be a number between 0 and 1, not 1.5"));
}

}  // namespace lint_sglang_test
