// Does lint find the mistakes that people make, and stay silent where there is none? The rules are those of the engines' own
// validation; the right examples are the ones of their documentation.
#include <catch2/catch.hpp>
#include <map>

#include "engines/command_line.h"
#include "engines/lint.h"
#include "json/reader.h"

namespace lint_test {

using namespace treeline;
using namespace treeline::engines;

namespace {

std::map<std::string, std::string> files;

LintResult checked(const std::string& text, const std::string& engine = "") {
    return lint(text, engine.empty() ? std::nullopt : std::optional(find_engine(engine)), [](const std::string& name) {
        const auto at = files.find(name);
        return at == files.end() ? std::nullopt : std::optional(at->second);
    });
}

/// Every finding, one a line, with its kind.
std::string findings(const std::string& text, const std::string& engine = "") {
    std::string all;
    for (const LintFinding& finding : checked(text, engine).findings) {
        all += std::string(name_of(finding.kind)) + ": " + finding.text + "\n";
    }
    return all;
}

bool finds(const std::string& text, const std::string& what, const std::string& engine = "") {
    const std::string all = findings(text, engine);
    const bool found = all.find(what) != std::string::npos;
    if (!found) {
        UNSCOPED_INFO("findings: " << all);
    }
    return found;
}

std::string vllm(const std::string& members) { return "{" + members + "}"; }

std::string problem(const std::string& text, const std::string& engine = "") {
    try {
        checked(text, engine);
    } catch (const text::InputError& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("examples of the engines' own documentation are clean") {
    const std::vector<std::string> clean = {
        // vLLM: docs/features/speculative_decoding/dynamic_speculative_decoding.md, draft_model.md, n_gram.md, suffix.md
        R"({"method": "eagle", "model": "yuhuili/EAGLE-LLaMA3.1-Instruct-8B", "num_speculative_tokens": 3,
            "num_speculative_tokens_per_batch_size": [[1, 64, 3], [65, 128, 1], [129, 512, 0]]})",
        R"(VLLM_USE_V2_MODEL_RUNNER=0 vllm serve meta-llama/Llama-3.1-8B-Instruct \
  --speculative-config '{
 "method": "eagle",
 "model": "yuhuili/EAGLE-LLaMA3.1-Instruct-8B",
 "num_speculative_tokens": 3}')",
        R"(vllm serve Qwen/Qwen3-4B-Thinking-2507 --host 0.0.0.0 -tp 1 --speculative_config '{"model": "Qwen/Qwen3-0.6B", "num_speculative_tokens": 5, "method": "draft_model"}')",
        R"({"method": "ngram", "num_speculative_tokens": 5, "prompt_lookup_max": 4})",
        R"({"method": "suffix", "num_speculative_tokens": 32})",
        R"(vllm serve m --speculative-config.method mtp --speculative-config.num_speculative_tokens 1)",
        "speculative-config:\n  method: mtp\n  num_speculative_tokens: 1\n", "vllm serve m --spec-method mtp --spec-tokens 1",
        "--spec-method eagle3 --spec-model some/drafter --spec-tokens 3", "model: m\nspec-method: mtp\nspec-tokens: 1\n",
        // SGLang: docs/advanced_features/speculative_decoding.md, adaptive_speculative_decoding.md
        R"(python3 -m sglang.launch_server --model meta-llama/Llama-2-7b-chat-hf --speculative-algorithm EAGLE \
  --speculative-draft-model-path lmsys/sglang-EAGLE-llama2-chat-7B --speculative-num-steps 3 --speculative-eagle-topk 4 \
  --speculative-num-draft-tokens 16 --mem-fraction-static 0.7 --cuda-graph-max-bs 8 --log-level warning)",
        "python3 -m sglang.launch_server --model deepseek-ai/DeepSeek-R1 --speculative-algo NEXTN --tp 8 --trust-remote-code",
        R"({"ema_alpha": 0.2, "warmup_batches": 10, "update_interval": 5,
            "1": {"candidate_steps": [1, 3, 7], "up_hysteresis": 0.0, "down_hysteresis": -0.25, "ceiling_coeff": 0},
            "8": {"candidate_steps": [1], "up_hysteresis": 0.0, "down_hysteresis": 0.0, "ceiling_coeff": 0}})",
        // TensorRT-LLM: docs/source/features/speculative-decoding.md, llm_args.py
        "speculative_config:\n  decoding_type: Eagle3\n  max_draft_len: 4\n  speculative_model_dir: /path/to/draft/model\n",
        R"(# trees
speculative_config:
  decoding_type: Eagle3
  max_draft_len: 6
  speculative_model: /path
  use_dynamic_tree: true
  dynamic_tree_max_topK: 10
  max_total_draft_tokens: 60
)",
        "speculative_config: {decoding_type: MTP, max_draft_len: 4, draft_len_schedule: {4: 4, 8: 2, 32: 1}}",
        // llama.cpp: docs/speculative.md
        "llama-server -m Qwen3-4B.gguf -md Qwen3-4B-eagle3.gguf --spec-type draft-eagle3",
        R"(llama-server ... --spec-type ngram-mod --spec-ngram-mod-n-match 24 --spec-ngram-mod-n-min 48 --spec-ngram-mod-n-max 64)",
        "llama-server -m a.gguf -hfd user/model:Q8_0"};
    for (const std::string& text : clean) {
        INFO(text);
        CHECK(findings(text) == "");
    }
}

TEST_CASE("vLLM's short flags set the same keys, and a key is set in one place") {
    CHECK(finds("vllm serve m --spec-method eagel3 --spec-model d --spec-tokens 2", "did you mean \"eagle3\"?"));
    CHECK(finds("spec_method: eagel3\nspec_model: d\nspec_tokens: 2\n", "did you mean \"eagle3\"?"));
    CHECK(finds(R"(vllm serve m --speculative-config '{"method": "mtp", "num_speculative_tokens": 1}' --spec-tokens 2)",
                "contradiction: --spec-tokens"));
}

TEST_CASE("keys that vLLM does not take") {
    CHECK(finds(vllm(R"("method": "mtp", "num_speculative_tokens": 2, "tensor_parallel_size": 4)"),
                "removed: tensor_parallel_size is rejected here; the drafter's is draft_tensor_parallel_size"));
    CHECK(finds(vllm(R"("method": "mtp", "num_speculative_token": 2)"), "did you mean \"num_speculative_tokens\"?"));
    CHECK(finds(vllm(R"("method": "eagel3", "model": "m", "num_speculative_tokens": 2)"), "did you mean \"eagle3\"?"));
    CHECK(finds(vllm(R"("method": "deepseek_mtp", "num_speculative_tokens": 2)"),
                "removed: method is deepseek_mtp, an old name"));
    const std::string scheduled = vllm(
        R"("method": "mtp", "num_speculative_tokens": 2, "num_speculative_tokens_per_batch_size": [[1, 8, 2], [9, 64, 0]])");
    CHECK(findings(scheduled) == "");
    CHECK(finds(scheduled, "num_speculative_tokens_per_batch_size was added in 0.24", "vllm@0.19"));
    CHECK(finds(scheduled, "num_speculative_tokens_per_batch_size was added in 0.24", "vllm@0.21.1"));
    const std::string tree =
        vllm(R"("method": "eagle", "model": "m", "num_speculative_tokens": 2, "speculative_token_tree": "[(0,)]")");
    CHECK(finds(tree, "removed: speculative_token_tree"));
    CHECK(findings(tree, "vllm@0.19") == "");
    CHECK(finds("vllm serve m --speculative-model d --num-speculative-tokens 3", "was removed with the V0 engine"));
    const std::string model = vllm(R"("method": "draft_model", "model": "m", "num_speculative_tokens": 2)");
    CHECK(finds(model, "this version rejects", "vllm@0.10"));
    CHECK(finds(model, "downgrade: method is draft_model", "vllm@0.25"));
    CHECK(findings(model, "vllm@0.26") == "");
}

TEST_CASE("keys of vLLM that do nothing, are missing or contradict each other") {
    CHECK(finds(vllm(R"("method": "ngram", "model": "m", "num_speculative_tokens": 2)"),
                "ignored: model is not used by method ngram"));
    CHECK(finds(vllm(R"("method": "mtp", "num_speculative_tokens": 2, "prompt_lookup_max": 3)"), "ignored: prompt_lookup_max"));
    CHECK(finds(vllm(R"("method": "ngram", "num_speculative_tokens": 2, "prompt_lookup_min": 5, "prompt_lookup_max": 3)"),
                "contradiction: prompt_lookup_min is 5, above prompt_lookup_max, 3"));
    CHECK(finds(vllm(R"("method": "eagle3", "num_speculative_tokens": 2)"), "missing: model is needed by method eagle3"));
    CHECK(finds(vllm(R"("method": "ngram")"), "missing: num_speculative_tokens"));
    CHECK(finds(vllm(R"("method": "mtp", "num_speculative_tokens": 0)"), "value: num_speculative_tokens"));
    CHECK(finds(vllm(R"("method": "mtp", "num_speculative_tokens": 2, "suffix_decoding_max_tree_depth": 3)"),
                "ignored: suffix_decoding"));
    CHECK(finds(vllm(R"("method": "ngram", "num_speculative_tokens": 2, "parallel_drafting": true)"),
                "contradiction: parallel_drafting"));
    CHECK(finds(vllm(R"("method": "mtp", "num_speculative_tokens": 2, "enable_adaptive_verification": true)"),
                "needs method dspark"));
    CHECK(finds(vllm(R"("method": "mtp", "num_speculative_tokens": 2, "num_speculative_tokens": 3)"), "appears twice"));
    const std::string synthetic = R"("method": "mtp", "num_speculative_tokens": 2, "rejection_sample_method": "synthetic")";
    CHECK(finds(vllm(synthetic), "needs exactly one of"));
    CHECK(findings(vllm(synthetic + R"(, "synthetic_acceptance_length": 2.4)")) == "");
    CHECK(finds(vllm(synthetic + R"(, "synthetic_acceptance_length": 3.4)"), "must lie between 1 and 3"));
    CHECK(finds(vllm(synthetic + R"(, "synthetic_acceptance_rates": [0.5])"), "must hold 2 rates"));
    CHECK(finds(vllm(synthetic + R"(, "synthetic_acceptance_rates": [0.5, 0.6])"), "must not increase"));
    CHECK(finds(vllm(R"("method": "mtp", "num_speculative_tokens": 2, "synthetic_acceptance_length": 2)"), "only valid with"));
}

TEST_CASE("schedules that vLLM refuses or does not follow") {
    const auto with = [](const std::string& schedule, const std::string& k = "5") {
        return vllm(R"("method": "eagle3", "model": "m", "num_speculative_tokens": )" + k +
                    R"(, "num_speculative_tokens_per_batch_size": )" + schedule);
    };
    CHECK(finds(with("[[2, 16, 5]]"), "must start at batch 1, not 2"));
    CHECK(finds(with("[[1, 16, 5], [16, 32, 3]]"), "ranges that overlap: 1 to 16 and 16 to 32"));
    CHECK(finds(with("[[1, 16, 5], [20, 32, 3]]"), "leaves out batches 17 to 19; they draft 5, as in the range before"));
    CHECK(finds(with("[[1, 16, 5]]", "3"), "asks for 5 draft tokens at batches 1 to 16"));
    CHECK(finds(with("[[1, 16, -1]]"), "K must be 0 or more"));
    CHECK(finds(with("[[9, 1, 2]]"), "holds the range 9 to 1"));
    CHECK(finds(with("[[1, 16]]"), "is not [from, to, K]"));
    CHECK(finds(with("[]"), "at least one entry"));
    CHECK(finds(with(R"({"1-16": 3})"), "an early form"));
    CHECK(finds(with("[[1, 16, 1, 4096, 5]]"), "no release accepts them yet"));
    const std::string config = "--speculative-config '" + with("[[1, 16, 5], [17, 99, 0]]") + "'";
    CHECK(findings("vllm serve m " + config) == "");
    CHECK(finds("vllm serve m --data-parallel-size 4 " + config, "dropped under data parallelism"));
    CHECK(finds("VLLM_USE_V2_MODEL_RUNNER=1 vllm serve m " + config, "no effect on model runner V2"));
}

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
    CHECK(finds("python -m sglang.launch_server --model m", "nothing is drafted"));
}

TEST_CASE("SGLang's adaptive steps and their file") {
    const std::string chain =
        "--speculative-algorithm EAGLE --speculative-draft-model-path d --speculative-num-steps 5 --speculative-eagle-topk 1 "
        "--speculative-num-draft-tokens 6 ";
    const std::string slots = R"({"1": {"candidate_steps": [5]}, "22": {"candidate_steps": [2]}})";
    files = {{"slots.json", slots}, {"other.json", R"({"1": {"candidate_steps": [3]}})"}};
    CHECK(findings(chain + "--speculative-adaptive --speculative-adaptive-config slots.json") == "");
    CHECK(finds(chain + "--speculative-adaptive --speculative-adaptive-config other.json", "is 5, which is not a candidate"));
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

TEST_CASE("TensorRT-LLM's YAML") {
    const auto yaml = [](const std::string& lines) { return "speculative_config:\n" + lines; };
    const std::string eagle = "  decoding_type: Eagle3\n  speculative_model: /d\n  max_draft_len: 4\n";
    CHECK(findings(yaml(eagle)) == "");
    CHECK(finds(yaml(eagle + "  draft_len_schedule: {4: 4, 8: 2}\n  max_concurrency: 8\n"), "excludes draft_len_schedule"));
    CHECK(finds(yaml("  decoding_type: Medusa\n  max_draft_len: 4\n  speculative_model: /d\n"),
                "which the PyTorch backend rejects"));
    CHECK(findings("backend: tensorrt\n" + yaml("  decoding_type: Medusa\n  max_draft_len: 4\n  speculative_model: /d\n"),
                   "tensorrt-llm@1.2") == "");
    CHECK(finds(yaml(eagle + "  draft_len_schedule: {4: 3, 8: 2}\n"), "drafts 3 at its smallest key, 4"));
    CHECK(finds(yaml(eagle + "  draft_len_schedule: {4: 4, 8: 5}\n"), "drafts 5 at 8, more than max_draft_len, 4"));
    CHECK(finds(yaml(eagle + "  draft_len_schedule: {0: 4}\n"), "batches count from 1"));
    CHECK(finds(yaml(eagle + "  draft_len_schedule: {1: 4, 8: 0}\n"), "is not read in 1.2 by Eagle3", "tensorrt-llm@1.2"));
    const std::string ngram = "  decoding_type: NGram\n  max_draft_len: 4\n";
    CHECK(findings(yaml(ngram + "  draft_len_schedule: {1: 4, 8: 0}\n"), "tensorrt-llm@1.2") == "");
    CHECK(finds(yaml(ngram + "  draft_len_schedule: {4: 4, 8: 2}\n"), "must hold batch size 1", "tensorrt-llm@1.2"));
    CHECK(findings(yaml(ngram + "  draft_len_schedule: {4: 4, 8: 2}\n")) == "");
    CHECK(finds(yaml(ngram + "  speculative_model: /d\n"), "is not used by NGram"));
    CHECK(finds(yaml(ngram + "  eagle_choices: [[0]]\n"), "belongs to Eagle and Eagle3 and is rejected with NGram",
                "tensorrt-llm@1.3"));
    CHECK(finds(yaml(ngram + "  eagle_choices: [[0]]\n"), "was removed in 1.4"));
    CHECK(finds(yaml(ngram + "  max_matching_ngram_sise: 3\n"), "did you mean \"max_matching_ngram_size\"?"));
    CHECK(finds(yaml("  decoding_type: DraftTarget\n  max_draft_len: 4\n  speculative_model: /d\n"),
                "did you mean \"Draft_Target\"?"));
    CHECK(finds(yaml("  decoding_type: Eagle3\n  max_draft_len: 4\n"), "missing: speculative_model is needed by Eagle3"));
    CHECK(finds(yaml("  decoding_type: Eagle3\n  speculative_model: /d\n"), "missing: max_draft_len"));
    CHECK(finds(yaml(eagle + "  max_batch_size: 4\n"), "passes its own max_batch_size down"));
    CHECK(finds(yaml(eagle + "  max_draft_len: 5\n"), "appears twice"));
    const std::string mtp = "  decoding_type: MTP\n  num_nextn_predict_layers: 3\n";
    CHECK(finds(yaml(mtp), "deprecated since 1.3"));
    CHECK(findings(yaml(mtp), "tensorrt-llm@1.2") == "");
    CHECK(finds(yaml("  decoding_type: MTP\n  max_draft_len: 3\n"), "overwritten in 1.2 by num_nextn_predict_layers",
                "trtllm@1.2"));
    CHECK(finds(yaml(eagle + "  use_dynamic_tree: true\n  dynamic_tree_max_topK: 2\n  max_total_draft_tokens: 9\n"),
                "must lie between"));
    CHECK(finds(yaml(eagle + "  use_dynamic_tree: true\n"), "dynamic_tree_max_topK must say"));
    CHECK(finds("tensor_parallel_size: 8\nspeculative_config:\n  max_draft_len: 3\n", "decoding_type is missing"));
    files = {{"extra.yaml", yaml("  decoding_type: Medusa\n")}};
    CHECK(finds("trtllm-serve m --extra_llm_api_options extra.yaml", "PyTorch backend rejects"));
    CHECK(problem("trtllm-serve m --config none.yaml").find("cannot read none.yaml") != std::string::npos);
}

TEST_CASE("llama.cpp's flags") {
    for (const char* gone : {"--draft", "--draft-n", "--draft-max", "--draft-min", "--draft-n-min", "--spec-ngram-size-n",
                             "--spec-ngram-size-m", "--spec-ngram-min-hits"}) {
        INFO(gone);
        CHECK(finds(std::string("llama-server -m a.gguf -md b.gguf --spec-type draft-simple ") + gone + " 8",
                    std::string("removed: ") + gone + " was removed"));
    }
    CHECK(finds("llama-server -m a.gguf -md b.gguf", "-md does not enable speculation"));
    CHECK(finds("llama-server -m a.gguf --model-draft b.gguf --spec-type ngram-simple", "--model-draft does not enable"));
    CHECK(finds("--spec-type draft-simple", "missing: --spec-draft-model is needed by --spec-type draft-simple"));
    CHECK(findings("--spec-type draft-mtp --spec-draft-n-max 2") == "");
    CHECK(
        finds("--spec-type ngram-simple --spec-draft-n-max 8", "does not limit ngram-simple; use --spec-ngram-simple-size-m"));
    CHECK(finds("--spec-type ngram-mod --spec-ngram-simple-size-m 8", "is read only by --spec-type ngram-simple"));
    CHECK(findings("--spec-type ngram-map-k4v --spec-ngram-map-k4v-size-m 8") == "");
    CHECK(finds("--spec-type ngram-simple --spec-ngram-simple-size-m 2048", "between 1 and 1024"));
    CHECK(finds("--spec-type ngram-simpel", "did you mean \"ngram-simple\"?"));
    CHECK(finds("--spec-type draft-mtp --spec-draft-n-max 2 --spec-draft-n-min 3", "is 3, above --spec-draft-n-max, 2"));
    CHECK(finds("--spec-type draft-mtp --spec-draft-nmax 2", "did you mean \"--spec-draft-n-max\"?"));
    CHECK(finds("--spec-type draft-mtp --spec-draft-n-max 2 --spec-draft-n-max 3", "appears twice"));
}

TEST_CASE("a command line is split as a shell splits it") {
    const CommandLine line = split_command_line("A=1 B='x y' prog 'a \"b\"' \"c \\\"d\\\" $e\" f\\ g \\\n  h # the rest\n\"\"");
    CHECK(line.environment == std::vector<std::pair<std::string, std::string>>{{"A", "1"}, {"B", "x y"}});
    CHECK(line.words == std::vector<std::string>{"prog", "a \"b\"", "c \"d\" $e", "f g", "h", ""});
    CHECK(split_command_line("").words.empty());
    CHECK_THROWS_AS(split_command_line("a 'b"), text::InputError);
    const Flags flags({"x", "--a_b=1", "--c", "-5", "--d", "--e.f_g", "h", "-md", "i", "--c", "7"});
    CHECK(flags.number({"--a-b"}) == 1);
    CHECK(flags.number({"--c"}) == 7);
    CHECK(flags.has({"--d"}));
    CHECK_FALSE(flags.find({"--d"})->value);
    CHECK(flags.find({"--e.f_g"})->value == "h");
    CHECK(flags.find({"-md"})->value == "i");
    CHECK_FALSE(flags.number({"--d"}));
}

TEST_CASE("what cannot be read, or belongs to another engine, is one sentence") {
    CHECK(problem("").find("is empty") != std::string::npos);
    CHECK(problem("hello").find("neither a command line") != std::string::npos);
    CHECK(problem("{\"method\": ").find("not JSON") != std::string::npos);
    CHECK(problem("a: [1\n").find("not YAML") != std::string::npos);
    CHECK(problem("{\"a\": 1}").find("names no engine") != std::string::npos);
    CHECK(problem("{\"method\": \"mtp\"}", "sglang").find("is for vLLM, not for SGLang") != std::string::npos);
    CHECK(problem("vllm serve m --speculative-config '{\"method\": '").find("--speculative-config") != std::string::npos);
    CHECK(problem("vllm serve m --speculative-config '{").find("ends within a quote") != std::string::npos);
    CHECK(problem("{\"a\": 1}", "llama.cpp").find("takes flags") != std::string::npos);
}

TEST_CASE("engines and versions are found by name, and others are refused in one sentence") {
    const auto refusal = [](const std::string& text) {
        try {
            find_engine(text);
        } catch (const text::InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(find_engine("vllm").version == "0.33");
    CHECK(find_engine("vllm@0.19").label() == "vLLM 0.19");
    CHECK(find_engine("vllm@v0.19.1").version == "0.19");
    CHECK(find_engine("vllm@0.21").label() == "vLLM 0.21 (as 0.19)");
    CHECK(find_engine("vllm@0.21").schedule == ScheduleForm::none);
    CHECK(find_engine("vllm@0.24.0").schedule == ScheduleForm::ranges);
    CHECK(find_engine("sglang@0.5.10").version == "0.5.9");
    CHECK(find_engine("TRTLLM@1.3.0rc27").version == "1.3");
    CHECK(find_engine("llama.cpp@b9987").name == EngineName::llama_cpp);
    CHECK(refusal("vlm") == "--engine: there is no engine \"vlm\"; did you mean \"vllm\"?");
    CHECK(refusal("tgi").find("; the engines are vllm, sglang, tensorrt-llm and llama.cpp") != std::string::npos);
    CHECK(refusal("vllm@0.9") ==
          "--engine: vLLM \"0.9\" is older than all known versions; known are 0.10, 0.19, 0.24 and 0.33");
    CHECK(refusal("vllm@1.0").find("is newer than all known versions") != std::string::npos);
    CHECK(refusal("vllm@new").find("is not a version") != std::string::npos);
    CHECK(refusal("vllm@").find("is not a version") != std::string::npos);
}

TEST_CASE("vLLM's methods without a number of draft tokens do not start") {
    for (const char* method : {"eagle", "eagle3", "dflash", "draft_model"}) {
        CHECK(finds(vllm(R"("method": ")" + std::string(method) + R"(", "model": "m")"), "missing: num_speculative_tokens"));
    }
    CHECK(finds(vllm(R"("method": "mtp")"), "missing: num_speculative_tokens is needed by method mtp", "vllm@0.24"));
    CHECK(findings(vllm(R"("method": "mtp")"), "vllm@0.33") == "");  // mended after 0.28
    CHECK(findings(vllm(R"("method": "suffix")")) == "");            // its tree depth is the default
    CHECK(findings("vllm serve m -sc.method mtp -sc.num-speculative-tokens 2") == "");
}

TEST_CASE("what runs around vLLM's drafts") {
    const std::string config = R"( --speculative-config '{"method": "mtp", "num_speculative_tokens": 2}')";
    CHECK(findings("vllm serve m" + config) == "");
    CHECK(finds("vllm serve m --enforce-eager" + config, "downgrade: --enforce-eager"));
    CHECK(finds("vllm serve m --kv-cache-dtype fp8" + config, "downgrade: --kv-cache-dtype is fp8"));
    CHECK(finds("VLLM_ATTENTION_BACKEND=FLASHINFER vllm serve m" + config, "downgrade: --attention-backend is FLASHINFER"));
    CHECK(findings("vllm serve m --kv-cache-dtype auto --attention-backend FLASH_ATTN" + config) == "");
    CHECK(finds("speculative-config:\n  method: mtp\n  num_speculative_tokens: 1\nenforce-eager: true\n",
                "downgrade: --enforce-eager"));
    const std::string stages = "contradiction: --pipeline-parallel-size is 2, with which vLLM does not start while it drafts";
    CHECK(finds("vllm serve m -pp 2" + config, stages));
    CHECK(finds("vllm serve m --pipeline-parallel-size 2 -sc.method eagle3 -sc.model d -sc.num_speculative_tokens 3", stages,
                "vllm@0.24"));
    CHECK(findings("vllm serve m --pipeline-parallel-size 2 -sc.method eagle3 -sc.model d -sc.num_speculative_tokens 3") == "");
    CHECK(findings("vllm serve m --pipeline-parallel-size 1" + config) == "");
    const std::string lookup =
        R"(VLLM_USE_V2_MODEL_RUNNER=1 vllm serve m -sc '{"method": "ngram", "num_speculative_tokens": 2}')";
    CHECK(finds(lookup, "contradiction: method is ngram, which model runner V2 refuses", "vllm@0.24"));
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

TEST_CASE("vLLM's graphs: modes, levels and captured sizes, in every form in which they are given") {
    const std::string serve =
        "vllm serve m --speculative-config '{\"method\":\"eagle3\",\"model\":\"d\","
        "\"num_speculative_tokens\":3}' ";
    CHECK(findings(serve) == "");
    for (const char* off : {"-O0", "--compilation-config '{\"cudagraph_mode\": \"none\"}'", "-cc.cudagraph_mode=NONE",
                            "--compilation-config.cudagraph_mode NONE"}) {
        INFO(off);
        CHECK(finds(serve + off, "switches CUDA graphs off"));
    }
    CHECK(finds(serve + "--compilation-config '{\"cudagraph_mode\":\"PIECEWISE\"}'", "attention of every layer is launched"));
    CHECK(findings(serve + "--compilation-config '{\"cudagraph_mode\":\"FULL_AND_PIECEWISE\"}'") == "");
    CHECK(finds(serve + "--compilation-config '{\"cudagraph_capture_sizes\":[1,2]}'", "no round runs in a graph"));
    CHECK(finds(serve + "--max-num-seqs 64 --max-cudagraph-capture-size 128", "rounds of more than 32 of the 64 sequences"));
    CHECK(findings(serve + "--max-num-seqs 64 --max-cudagraph-capture-size 256") == "");
    CHECK(
        finds("speculative-config:\n  method: eagle3\n  model: d\n  num_speculative_tokens: 3\ncompilation-config:\n  "
              "cudagraph_mode: PIECEWISE\n",
              "downgrade: compilation-config sets cudagraph_mode PIECEWISE"));
}

TEST_CASE("images name the engine and its version, and container files their command") {
    const std::string old_image =
        "docker run vllm/vllm-openai:v0.19.0 --model m --speculative-config "
        "'{\"method\":\"mtp\",\"num_speculative_tokens_per_batch_size\":[[1,8,2]],"
        "\"num_speculative_tokens\":2}'";
    CHECK(finds(old_image, "was added in 0.24"));
    CHECK(finds("docker run vllm/vllm-openai:latest --model m --speculative-config '{\"method\":\"eagle3\",\"model\":\"d\"}'",
                "num_speculative_tokens"));
    const std::string compose =
        "services:\n  web:\n    image: nginx\n  vllm:\n    image: vllm/vllm-openai:v0.24.0\n    environment:\n      - "
        "VLLM_USE_V2_MODEL_RUNNER=1\n    command: >\n      --model m --speculative-config "
        "'{\"method\":\"ngram\",\"num_speculative_tokens\":3}'\n";
    CHECK(finds(compose, "method is ngram, which model runner V2 refuses"));
    const std::string pod =
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - image: lmsysorg/sglang:v0.5.9-cu128\n      "
        "command: [python3, -m, sglang.launch_server]\n      args: [--model-path, m, --speculative-algorithm, "
        "DFLASH]\n";
    CHECK(finds(pod, "is DFLASH, which SGLang 0.5.9 does not know"));
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

TEST_CASE("TensorRT-LLM's graphs need the exact batch unless they are padded") {
    const std::string yaml = "speculative_config:\n  decoding_type: MTP\n  max_draft_len: 3\n";
    CHECK(findings(yaml) == "");
    CHECK(finds(yaml + "cuda_graph_config:\n  max_batch_size: 64\n", "downgrade: cuda_graph_config has no enable_padding"));
    CHECK(findings(yaml + "cuda_graph_config:\n  enable_padding: true\n") == "");
    CHECK(finds(yaml + "cuda_graph_config: null\n", "switches CUDA graphs off"));
}

TEST_CASE("ik_llama.cpp is told from llama.cpp") {
    CHECK(finds("llama-server -m a.gguf -md b.gguf -fmoe --draft-max 4", "-fmoe is a flag of the fork ik_llama.cpp"));
    CHECK(finds("/opt/ik_llama.cpp/build/bin/llama-server -m a.gguf -md b.gguf --draft-max 4",
                "is a fork with flags of its own"));
    CHECK(finds("llama-server -m a.gguf --spec-type mtp:n_max=3,p_min=0.0", "is of the form that the fork ik_llama.cpp takes"));
    CHECK(finds("llama-server -m a.gguf --spec-stage mtp:n_max=3", "--spec-stage is a flag of the fork"));
    CHECK(!finds("llama-server -m a.gguf -md b.gguf --spec-type draft-simple", "fork"));
}

TEST_CASE("llama.cpp's weights on the host: counts, patterns, and flags that cancel each other") {
    const std::string serve = "llama-server -m a.gguf --spec-type draft-mtp --spec-draft-n-max 2 ";
    CHECK(findings(serve + "-ngl 99 --n-cpu-moe 38") == "");
    CHECK(findings(serve + "-ngl auto -ot \"\\.ffn_(up|down|gate)_exps\\.=CPU\"") == "");
    CHECK(finds(serve + "--n-cpu-moe all", "value: --n-cpu-moe must be a whole number from 0 on"));
    CHECK(finds(serve + "-ngl half", "must be a whole number from -1 on, or auto, or all"));
    CHECK(finds(serve + "-ncmoe 38 --cpu-moe", "contradiction: -ncmoe limits nothing"));
    CHECK(finds(serve + "-ngl 0 --cpu-moe", "ignored: --cpu-moe changes nothing"));
    CHECK(finds(serve + "-ot exps", "write pattern=buffer"));
}

TEST_CASE("files that a script writes before it starts the engine") {
    for (const std::string begin : {"cat <<EOF > options.yaml\n", "cat > ./options.yaml <<'EOF'\n",
                                    "cat >options.yaml<<-\"EOF\"\n", "tee options.yaml <<EOF\n"}) {
        INFO(begin);
        const std::string script =
            begin +
            "speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: 3\n  max_draft_len: 3\nEOF\n"
            "trtllm-serve serve model --backend pytorch --max_batch_size 32 --config options.yaml\n";
        CHECK(findings(script).find("cannot read") == std::string::npos);
        CHECK(checked(script).engine.name == EngineName::tensorrt_llm);
    }
    CHECK_THROWS_WITH(findings("trtllm-serve serve model --config options.yaml"), Catch::Contains("cannot read options.yaml"));
}

TEST_CASE("what a shell puts in place of substitutions") {
    const std::string serve = "trtllm-serve serve model --extra_llm_api_options ";
    const std::string yaml = "speculative_config:\n  decoding_type: NOSUCH\n  max_draft_len: 3\n";
    for (const std::string& file : std::vector<std::string>{
             "<(echo '{\"speculative_config\": {\"decoding_type\": \"NOSUCH\"}}')",
             "<(printf '%s' \"speculative_config: {decoding_type: NOSUCH}\")", "<(cat <<'EOF'\n" + yaml + "EOF\n)",
             "<(echo -e 'speculative_config:\\n  decoding_type: NOSUCH')"}) {
        INFO(file);
        CHECK(finds(serve + file + " --port 8000", "which TensorRT-LLM"));
    }
    // A value in a document of the script, with an apostrophe, and of a file that the script writes.
    const std::string config = "{\"method\": \"nosuch's\", \"num_speculative_tokens\": 3}";
    CHECK(finds("vllm serve m --speculative-config \"$(cat <<'EOF'\n" + config + "\nEOF\n)\" --port 8000", "nosuch's"));
    CHECK(finds("cat > spec.json <<EOF\n" + config + "\nEOF\nvllm serve m --speculative-config \"$(cat spec.json)\"",
                "nosuch's"));
    CHECK_THROWS_WITH(findings("vllm serve m --speculative-config \"$(cat other.json)\""),
                      Catch::Contains("$(cat other.json) stands for a text that is not given here"));
    CHECK_THROWS_WITH(findings(serve + "<(python3 make.py)"), Catch::Contains("cannot read <(python3"));
}

TEST_CASE("variables of a container in its arguments, as Kubernetes puts them in") {
    const std::string head =
        "kind: Deployment\nspec:\n  containers:\n  - image: vllm/vllm-openai:v0.24.0\n    args: [m, --speculative-config, "
        "\"$(SPEC)\"]\n";
    CHECK(finds(head + "    env:\n    - {name: SPEC, value: '{\"method\": \"nosuch\", \"num_speculative_tokens\": 2}'}\n",
                "method is \"nosuch\""));
    CHECK_THROWS_WITH(findings(head), Catch::Contains("$(SPEC) stands for a text that is not given here"));
}

TEST_CASE("the YAML that vLLM and SGLang read beside their flags") {
    const std::string file = "cat > c.yaml <<EOF\nspeculative-config:\n  method: nosuch\n  num_speculative_tokens: 3\nEOF\n";
    CHECK(finds(file + "vllm serve m --config c.yaml", "method is \"nosuch\""));
    // A flag of the command counts more than the file.
    CHECK(findings(file +
                   "vllm serve m --config c.yaml --speculative-config '{\"method\": \"ngram\", \"prompt_lookup_max\": 4, "
                   "\"num_speculative_tokens\": 3}'")
              .find("nosuch") == std::string::npos);
    CHECK(finds("cat > c.yaml <<EOF\nspeculative-algorithm: NOSUCH\nEOF\npython3 -m sglang.launch_server --config c.yaml",
                "NOSUCH"));
    // What stands in a file that is not given may draft.
    CHECK_THROWS_WITH(findings("vllm serve m --config other.yaml"), Catch::Contains("cannot read other.yaml"));
}

TEST_CASE("presets of llama.cpp's router") {
    CHECK(findings("spec-type = draft-mtp,ngram-mod\nspec-draft-n-max = 2\n").empty());
    CHECK(checked("; a comment\n[*]\nngl = 99\n[some-model]\nspec-type = draft-mtp\ndraft-max = 3\n").engine.name ==
          EngineName::llama_cpp);
    CHECK(finds("[*]\nngl = 99\n[some-model]\nspec-type = draft-mtp\ndraft-max = 3\n", "--draft-max was removed"));
    CHECK(checked("[a]\nspec-type = draft-mtp\n[b]\nspec-type = ngram-mod\n").form.find("[a]") != std::string::npos);
}

TEST_CASE("a program that is not known is said to be read by its flags") {
    CHECK(checked("./dflash_server model.gguf --draft draft.gguf").form.find("program is not known") != std::string::npos);
    CHECK(checked("llama-server -m model.gguf --spec-type draft-mtp").form == "a command line");
    CHECK(checked("--spec-type draft-mtp").form == "a command line");
    CHECK(checked(".\\llama-server.exe -m model.gguf --spec-type draft-mtp").form == "a command line");
}

TEST_CASE("values of charts, patches and variables hold flags") {
    // The version is that of the repository and the tag, which a chart keeps apart.
    const std::string chart =
        "servingEngineSpec:\n  modelSpec:\n  - repository: vllm/vllm-openai\n    tag: v0.19.0\n    vllmConfig:\n      "
        "extraArgs: "
        "[--speculative-config, '{\"method\":\"ngram\",\"num_speculative_tokens_per_batch_size\":[[1,8,2]],"
        "\"num_speculative_tokens\":2}']\n";
    CHECK(finds(chart, "was added in 0.24"));
    CHECK(checked(chart).form == "the command of a container");
    const std::string patch =
        "- op: add\n  path: /spec/template/spec/containers/0/args/-\n  value: "
        "--speculative-config={\"model\":\"d\",\"method\":\"eagle3\"}\n";
    CHECK(finds(patch, "missing: num_speculative_tokens"));
    CHECK(checked(patch).form == "flags within YAML");
    const std::string variable =
        "kind: Service\nspec:\n  image: {repository: lmsysorg/sglang, tag: v0.5.9}\n  env:\n  - name: EXTRA_ARGS\n    value: "
        "\"--speculative-algorithm DFLASH\"\n";
    CHECK(finds(variable, "is DFLASH, which SGLang 0.5.9 does not know"));
}

TEST_CASE("a script within a container file is split, and llama-swap's commands with their macros") {
    const std::string pod =
        "kind: Deployment\nspec:\n  containers:\n  - image: lmsysorg/sglang:v0.5.9\n    command: [bash, -c]\n    args:\n    - "
        "|\n"
        "      export SGLANG_SIMULATE_ACC_LEN=3\n      python3 -m sglang.launch_server --model-path m \\\n"
        "        --speculative-algorithm DFLASH\n";
    CHECK(finds(pod, "is DFLASH, which SGLang 0.5.9 does not know"));
    const std::string swap =
        "macros:\n  server: /app/llama-server --port ${PORT}\nmodels:\n  a:\n    cmd: |\n      ${server}\n      -m a.gguf "
        "--model-draft b.gguf --spec-draft-n-max 3\n";
    CHECK(finds(swap, "ignored: --model-draft does not enable speculation"));
    CHECK(checked(swap).engine.name == EngineName::llama_cpp);
    std::string bomb = "macros:\n  a: " + std::string(100000, 'x') + "\nmodels:\n  m:\n    cmd: --spec-type";
    for (int i = 0; i < 50; ++i) {
        bomb += " ${a}";
    }
    CHECK(problem(bomb + "\n").find("more than 4 MiB") != std::string::npos);
}

TEST_CASE("options deeper in a file, or in a text within it") {
    CHECK(finds(
        "kind: ConfigMap\ndata:\n  agg.yaml: |\n    speculative_config:\n      decoding_type: Eagle\n      max_draft_len: 3\n"
        "      speculative_model: d\n      eagle3_one_model: true\n",
        "removed: eagle3_one_model"));
    CHECK(
        finds("applications:\n- args:\n    llm_configs:\n    - engine_kwargs:\n        speculative_config:\n          method: "
              "eagle3\n          model: d\n",
              "missing: num_speculative_tokens"));
    CHECK(finds("model: m\nspeculative-config: '{\"method\":\"qwen3_next_mtp\",\"num_speculative_tokens\":2}'\n",
                "removed: method is qwen3_next_mtp"));
}

TEST_CASE("units of systemd and calls of Python") {
    const std::string unit =
        "[Unit]\nDescription=a server\n[Service]\nEnvironment=VLLM_USE_V2_MODEL_RUNNER=1\nExecStart=/opt/bin/vllm serve m \\\n"
        "  --speculative-config '{\"method\":\"ngram\",\"num_speculative_tokens\":3}'\nRestart=always\n";
    CHECK(finds(unit, "method is ngram, which model runner V2 refuses", "vllm@0.24"));
    CHECK(checked(unit).form == "the command of a unit");
    const std::string call =
        "from vllm import LLM\nllm = LLM(model='m', enforce_eager=True, gpu_memory_utilization=0.9,  # a remark, (\n"
        "          speculative_config={'method': 'eagle3', 'model': 'd', 'disable_padded_drafter_batch': True,},\n"
        "          max_model_len=LENGTH)\nprint(llm)\n";
    CHECK(finds(call, "missing: num_speculative_tokens"));
    CHECK(finds(call, "downgrade: --enforce-eager"));
    CHECK(checked(call).form == "a call or list in Python");
    const std::string list =
        "cmd = [\n    \"vllm\", \"serve\", MODEL,  # a name\n    \"--speculative-config\",\n    json.dumps({\"method\": "
        "\"eagle3\", "
        "'model': \"d\"}),\n    \"--port\", str(PORT),\n]\nsubprocess.run(cmd)\n";
    CHECK(finds(list, "missing: num_speculative_tokens"));
    CHECK(findings("run([\"vllm\", \"serve\", \"m\", \"--speculative-config\", json.dumps(dict(method=\"eagle3\", model=\"d\", "
                   "num_speculative_tokens=3))])") == "");
    CHECK(finds("engine = sgl.Engine(model_path=\"m\", speculative_algorithm=\"EAGLE4\")\n", "is EAGLE4, which SGLang"));
}

TEST_CASE("variables that a script sets are put in") {
    const std::string script =
        "#!/bin/bash\nset -e\nSPEC='{\"method\": \"eagle3\", \"model\": \"d\"}'\nvllm serve ${MODEL:-m} "
        "--speculative-config \"$SPEC\"\n";
    CHECK(finds(script, "missing: num_speculative_tokens"));
    CHECK(split_command_line("A=1 p $A \"${A}2\" '$A' $B ${C:-d} $(e) $").words ==
          std::vector<std::string>{"p", "1", "12", "$A", "$B", "d", "$(e)", "$"});
    std::string bomb = "A=" + std::string(1000, 'x') + "\n";
    for (char name = 'B'; name <= 'Z'; ++name) {
        const std::string before = "$" + std::string(1, static_cast<char>(name - 1));
        bomb += std::string(1, name) + "=" + before + before + "\n";
    }
    CHECK_THROWS_AS(split_command_line(bomb), text::InputError);
}

TEST_CASE("llama.cpp's variables are its flags") {
    const std::string compose =
        "services:\n  llama:\n    image: ghcr.io/ggml-org/llama.cpp:server-cuda\n    environment:\n      LLAMA_ARG_MODEL: "
        "/m/a.gguf\n"
        "      LLAMA_ARG_MODEL_DRAFT: /m/b.gguf\n      LLAMA_ARG_SPEC_DRAFT_N_MAX: 3\n";
    CHECK(finds(compose, "ignored: --model-draft does not enable speculation"));
    CHECK(findings(compose + "      LLAMA_ARG_SPEC_TYPE: draft-simple\n") == "");
    CHECK(finds("LLAMA_ARG_SPEC_TYPE=draft-mpt llama-server -m a.gguf --spec-draft-n-max 3", "did you mean \"draft-mtp\"?"));
}

TEST_CASE("programs without rules are named, not taken for another") {
    for (const std::string text :
         {"lmdeploy serve api_server m --speculative-algorithm deepseek_mtp",
          "python -m mlx_lm.server --model m --draft-model d --num-draft-tokens 4",
          "draft_model:\n  draft_model_dir: models\n  draft_model_name: d\n", "FROM qwen\nPARAMETER draft_num_predict 4\n",
          "[Service]\nExecStart=/usr/bin/rapid-mlx serve m --speculative-config x\n"}) {
        INFO(text);
        CHECK(problem(text).find("whose settings are not checked") != std::string::npos);
    }
    CHECK(findings("vllm serve /models/lmdeploy --speculative-config '{\"method\":\"mtp\",\"num_speculative_tokens\":1}'") ==
          "");
}

}  // namespace lint_test
