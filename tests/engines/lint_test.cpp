// Does lint find the mistakes that people make, and stay silent where there is none? The rules are those of the engines' own
// validation; the right examples are the ones of their documentation.
#include <catch2/catch.hpp>

#include "lint_findings.h"

namespace lint_test {

using namespace treeline;
using namespace treeline::engines;
using namespace treeline::testing;

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
          "--engine: vLLM \"0.9\" is older than all known versions; known are 0.10, 0.11, 0.11.1, 0.15, 0.19, 0.24, "
          "0.25, 0.26, 0.27 and 0.33");
    CHECK(refusal("vllm@1.0").find("is newer than all known versions") != std::string::npos);
    // Between two known versions only what both or none of them have is known.
    CHECK(next_known(find_engine("vllm@0.30"))->version == "0.33");
    for (const char* known : {"vllm", "vllm@0.27", "vllm@0.27.1", "vllm@v0.19.1", "llama.cpp@b100"}) {
        CHECK(next_known(find_engine(known)) == nullptr);
    }
    CHECK(refusal("vllm@new").find("is not a version") != std::string::npos);
    CHECK(refusal("vllm@").find("is not a version") != std::string::npos);
}

TEST_CASE("formats of keys and values that an engine does not know are found") {
    const std::string ngram = R"( --speculative-config '{"method":"ngram","num_speculative_tokens":3,"prompt_lookup_max":4}')";
    CHECK(finds("vllm serve Qwen/Qwen3-32B --kv-cache-dtype bogus" + ngram, "--kv-cache-dtype is bogus", "vllm@0.33"));
    CHECK(finds("vllm serve Qwen/Qwen3-32B --kv-cache-dtype nvpf4" + ngram, "did you mean \"nvfp4\"", "vllm@0.33"));
    CHECK(finds(for_vllm(R"("method":"eagle3","model":"x","num_speculative_tokens":3,"kv_cache_dtype":"bogus")"),
                "kv_cache_dtype is bogus", "vllm@0.33"));
    const std::string sglang = "python -m sglang.launch_server --model-path x --speculative-algorithm NGRAM --kv-cache-dtype ";
    CHECK(finds(sglang + "fp8", "--kv-cache-dtype is fp8"));
    const std::string llama = "llama-server -m x.gguf --spec-type ngram-simple ";
    CHECK(finds(llama + "--cache-type-k f8", "--cache-type-k is f8"));
    CHECK(finds(llama + "-ctvd bogus", "-ctvd is bogus"));
    const std::string yaml = "speculative_config:\n  decoding_type: NGram\n  max_draft_len: 3\nkv_cache_config:\n  dtype: ";
    CHECK(finds(yaml + "bf16\n", "kv_cache_config.dtype is bf16", "tensorrt-llm"));
    for (const std::string& clean :
         {"vllm serve x --kv-cache-dtype nvfp4" + ngram, "vllm serve x --kv-cache-dtype $FORMAT" + ngram, sglang + "fp4_e2m1",
          llama + "-ctk q8_0 -ctv q8_0", yaml + "nvfp4\n"}) {
        INFO(clean);
        CHECK(findings(clean).find("format that") == std::string::npos);
    }
}

TEST_CASE("a program that is not known is said to be read by its flags") {
    CHECK(checked("./dflash_server model.gguf --draft draft.gguf").form.find("program is not known") != std::string::npos);
    CHECK(checked("llama-server -m model.gguf --spec-type draft-mtp").form == "a command line");
    CHECK(checked("--spec-type draft-mtp").form == "a command line");
    CHECK(checked(".\\llama-server.exe -m model.gguf --spec-type draft-mtp").form == "a command line");
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
