// Does lint find the mistakes that people make in vLLM's flags?
#include <catch2/catch.hpp>

#include "lint_findings.h"

namespace lint_vllm_test {

using namespace treeline;
using namespace treeline::engines;
using namespace treeline::testing;

TEST_CASE("vLLM's short flags set the same keys, and a key is set in one place") {
    CHECK(finds("vllm serve m --spec-method eagel3 --spec-model d --spec-tokens 2", "did you mean \"eagle3\"?"));
    CHECK(finds("spec_method: eagel3\nspec_model: d\nspec_tokens: 2\n", "did you mean \"eagle3\"?"));
    CHECK(finds(R"(vllm serve m --speculative-config '{"method": "mtp", "num_speculative_tokens": 1}' --spec-tokens 2)",
                "contradiction: --spec-tokens"));
}

TEST_CASE("keys that vLLM does not take") {
    CHECK(finds(for_vllm(R"("method": "mtp", "num_speculative_tokens": 2, "tensor_parallel_size": 4)"),
                "removed: tensor_parallel_size is rejected here; the drafter's is draft_tensor_parallel_size"));
    CHECK(finds(for_vllm(R"("method": "mtp", "num_speculative_token": 2)"), "did you mean \"num_speculative_tokens\"?"));
    CHECK(finds(for_vllm(R"("method": "eagel3", "model": "m", "num_speculative_tokens": 2)"), "did you mean \"eagle3\"?"));
    for (const std::string old : {"deepseek_mtp", "qwen3_next_mtp"}) {  // works, with a warning: no finding
        const std::string config = for_vllm("\"method\": \"" + old + "\", \"num_speculative_tokens\": 2");
        CHECK(findings(config) == "");
        CHECK(notes(config) == "method is " + old + ", an old name: vLLM logs a warning and treats it as mtp.\n");
    }
    const std::string scheduled = for_vllm(
        R"("method": "mtp", "num_speculative_tokens": 2, "num_speculative_tokens_per_batch_size": [[1, 8, 2], [9, 64, 0]])");
    CHECK(findings(scheduled) == "");
    CHECK(finds(scheduled, "num_speculative_tokens_per_batch_size was added in 0.24", "vllm@0.19"));
    CHECK(finds(scheduled, "num_speculative_tokens_per_batch_size was added in 0.24", "vllm@0.21.1"));
    const std::string tree =
        for_vllm(R"("method": "eagle", "model": "m", "num_speculative_tokens": 2, "speculative_token_tree": "[(0,)]")");
    CHECK(finds(tree, "removed: speculative_token_tree"));
    CHECK(findings(tree, "vllm@0.19") == "");
    CHECK(finds("vllm serve m --speculative-model d --num-speculative-tokens 3", "was removed with the V0 engine"));
    const std::string model = for_vllm(R"("method": "draft_model", "model": "m", "num_speculative_tokens": 2)");
    CHECK(finds(model, "this version rejects", "vllm@0.10"));
    CHECK(finds(model, "downgrade: method is draft_model", "vllm@0.25"));
    CHECK(findings(model, "vllm@0.26") == "");
}

TEST_CASE("what came with a version is known of it, and nothing is said of what came between two known ones") {
    const std::string dspark = for_vllm(R"("method": "dspark", "model": "m", "num_speculative_tokens": 7)");
    CHECK(finds(dspark, "which vLLM 0.24 does not know", "vllm@0.24"));
    for (const char* version : {"vllm@0.25", "vllm@0.26.1", "vllm@0.28.0"}) {  // issues 49369 and 51454 run it on 0.25
        CHECK(findings(dspark, version) == "");
    }
    const std::string blocks = for_vllm(R"("method": "mtp", "num_speculative_tokens": 2, "rejection_sample_method": "block")");
    CHECK(finds(blocks, "must be standard or synthetic", "vllm@0.24"));
    CHECK(findings(blocks, "vllm@0.28") == "");  // issue 56797
    const std::string cache = for_vllm(R"("method": "mtp", "num_speculative_tokens": 2, "kv_cache_dtype": "bfloat16")");
    CHECK(finds(cache, "kv_cache_dtype is unknown to vLLM 0.25", "vllm@0.25"));
    CHECK(findings(cache, "vllm@0.26") == "");  // pull request 48787
    const std::string adaptive =
        for_vllm(R"("method": "dspark", "model": "m", "num_speculative_tokens": 7, "enable_adaptive_verification": true)");
    CHECK(finds(adaptive, "is unknown to vLLM 0.27", "vllm@0.27"));
    CHECK(findings(adaptive, "vllm@0.28") == "");
    CHECK(notes(adaptive, "vllm@0.28") ==
          "Whether vLLM 0.28 takes enable_adaptive_verification is not known: 0.27 does not, 0.33 does.\n");
    const std::string flags = "--speculative-algorithm DSPARK --speculative-draft-model-path d";
    CHECK(finds(flags, "which SGLang 0.5.11 does not know", "sglang@0.5.11"));
    CHECK(findings(flags, "sglang@0.5.15") == "");
    CHECK_THAT(notes(flags, "sglang@0.5.15"), Catch::Contains("Whether SGLang 0.5.15 takes DSPARK is not known"));
}

TEST_CASE("a step of vLLM that the slots for drafts leave no tokens") {
    const std::string serve =
        R"(vllm serve m --speculative-config '{"method": "dflash", "model": "d", "num_speculative_tokens": )";
    // Issue 50708: 2048 - 15 x 256 = -1792; with the defaults of larger devices 8192 - 15 x 1024.
    CHECK(finds(serve + "16}'", "contradiction: --max-num-batched-tokens is its default", "vllm@0.26"));
    CHECK(findings(serve + "8}'", "vllm@0.26") == "");            // 8 tokens a request, of which 7 are kept
    CHECK(finds(serve + "8}'", "nothing is left", "vllm@0.28"));  // pull request 51256: 8 are
    CHECK(findings(serve + "16}'", "vllm@0.16") == "");           // before pull request 34898
    CHECK(findings(serve + "16}'") == "");                        // 0.33 keeps those of one request
    CHECK(finds(serve + "16}' --max-num-seqs 64 --max-num-batched-tokens 960", "nothing is left", "vllm@0.26"));
    CHECK(findings(serve + "16}' --max-num-seqs 64 --max-num-batched-tokens 961", "vllm@0.26") == "");
    CHECK(findings(serve + "16}' --max-num-seqs 137", "vllm@0.26") == "");  // 2048 - 2055, 8192 - 2055
    CHECK_THAT(notes(serve + "16}' --max-num-seqs 137", "vllm@0.26"), Catch::Contains("on some devices nothing is left"));
    CHECK_THAT(notes(serve + "16}'", "vllm@0.30"), Catch::Contains("nothing may be left"));
    const std::string alone = for_vllm(R"("method": "dflash", "model": "d", "num_speculative_tokens": 16)");
    CHECK(findings(alone, "vllm@0.26") == "");
    CHECK_THAT(notes(alone, "vllm@0.26"), Catch::Contains("unless its command says otherwise"));
    CHECK(findings(serve + "16}' $EXTRA_ARGS", "vllm@0.26") == "");
    const std::string model = R"(vllm serve m --max-num-seqs 64 --max-num-batched-tokens 256 --speculative-config
        '{"model": "d", "num_speculative_tokens": 4, "method": "draft_model")";
    CHECK(findings(model + "}'", "vllm@0.26") == "");  // one slot a request
    CHECK(finds(model + R"(, "parallel_drafting": true}')", "nothing is left", "vllm@0.26"));
    CHECK(
        finds("max-num-seqs: 64\nmax-num-batched-tokens: 448\nspeculative-config:\n  method: dspark\n  model: d\n"
              "  num_speculative_tokens: 8\n",
              "nothing is left", "vllm@0.26"));
}

TEST_CASE("drafters that the served checkpoint does not have, and names that say how one drafts") {
    const auto of = [](const std::string& model, const std::string& config) {
        return findings("vllm serve " + model + " --speculative-config '{" + config + "}'", "", {}, known_models);
    };
    const std::string mtp = R"("method": "mtp", "num_speculative_tokens": )";
    for (const char* without : {"openai/gpt-oss-120b", "Qwen/Qwen3-32B", "google/gemma-4-31B-it"}) {
        CHECK_THAT(of(without, mtp + "2"), Catch::Contains("contradiction: method is mtp, but the checkpoint of"));
    }
    CHECK(of("google/gemma-4-31B-it", R"("model": "google/gemma-4-31B-it-assistant", )" + mtp + "2") == "");
    CHECK(of("deepseek-ai/DeepSeek-R1", mtp + "3") == "");
    CHECK_THAT(of("stepfun-ai/Step-3.5-Flash", mtp + "4"), Catch::Contains("4, which is not divisible by the 3 modules"));
    CHECK(of("stepfun-ai/Step-3.5-Flash", mtp + "6") == "");
    CHECK(of("stepfun-ai/Step-3.5-Flash", mtp + "2") == "");
    CHECK(of("XiaomiMiMo/MiMo-V2-Flash", mtp + "4") == "");  // of which vLLM loads the first alone
    CHECK(finds(for_vllm(R"("method": "eagle", "model": "yuhuili/EAGLE3-LLaMA3.1-Instruct-8B", "num_speculative_tokens": 3)"),
                "is an EAGLE-3 head by its name"));
    const std::string pard = R"("method": "draft_model", "model": "amd/PARD-Llama-3.2-1B", "num_speculative_tokens": 8)";
    CHECK(finds(for_vllm(pard), "downgrade: model is amd/PARD-Llama-3.2-1B"));
    CHECK(findings(for_vllm(pard + R"(, "parallel_drafting": true)")) == "");
}

TEST_CASE("keys of vLLM that do nothing, are missing or contradict each other") {
    CHECK(finds(for_vllm(R"("method": "ngram", "model": "m", "num_speculative_tokens": 2)"),
                "ignored: model is not used by method ngram"));
    CHECK(finds(for_vllm(R"("method": "mtp", "num_speculative_tokens": 2, "prompt_lookup_max": 3)"),
                "ignored: prompt_lookup_max"));
    CHECK(finds(for_vllm(R"("method": "ngram", "num_speculative_tokens": 2, "prompt_lookup_min": 5, "prompt_lookup_max": 3)"),
                "contradiction: prompt_lookup_min is 5, above prompt_lookup_max, 3"));
    CHECK(finds(for_vllm(R"("method": "eagle3", "num_speculative_tokens": 2)"), "missing: model is needed by method eagle3"));
    CHECK(finds(for_vllm(R"("method": "ngram")"), "missing: num_speculative_tokens"));
    CHECK(finds(for_vllm(R"("method": "mtp", "num_speculative_tokens": 0)"), "value: num_speculative_tokens"));
    CHECK(finds(for_vllm(R"("method": "mtp", "num_speculative_tokens": 2, "suffix_decoding_max_tree_depth": 3)"),
                "ignored: suffix_decoding"));
    CHECK(finds(for_vllm(R"("method": "ngram", "num_speculative_tokens": 2, "parallel_drafting": true)"),
                "contradiction: parallel_drafting"));
    CHECK(finds(for_vllm(R"("method": "mtp", "num_speculative_tokens": 2, "enable_adaptive_verification": true)"),
                "needs method dspark"));
    CHECK(finds(for_vllm(R"("method": "mtp", "num_speculative_tokens": 2, "num_speculative_tokens": 3)"), "appears twice"));
    const std::string synthetic = R"("method": "mtp", "num_speculative_tokens": 2, "rejection_sample_method": "synthetic")";
    CHECK(finds(for_vllm(synthetic), "needs exactly one of"));
    CHECK(findings(for_vllm(synthetic + R"(, "synthetic_acceptance_length": 2.4)")) == "");
    CHECK(finds(for_vllm(synthetic + R"(, "synthetic_acceptance_length": 3.4)"), "must lie between 1 and 3"));
    CHECK(finds(for_vllm(synthetic + R"(, "synthetic_acceptance_rates": [0.5])"), "must hold 2 rates"));
    CHECK(finds(for_vllm(synthetic + R"(, "synthetic_acceptance_rates": [0.5, 0.6])"), "must not increase"));
    CHECK(finds(for_vllm(R"("method": "mtp", "num_speculative_tokens": 2, "synthetic_acceptance_length": 2)"),
                "only valid with"));
}

TEST_CASE("schedules that vLLM refuses or does not follow") {
    const auto with = [](const std::string& schedule, const std::string& k = "5") {
        return for_vllm(R"("method": "eagle3", "model": "m", "num_speculative_tokens": )" + k +
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
    CHECK(findings("VLLM_USE_V2_MODEL_RUNNER=0 vllm serve m " + config) == "");
    CHECK(finds("vllm serve m --data-parallel-size 4 " + config, "dropped under data parallelism"));
    CHECK(finds("VLLM_USE_V2_MODEL_RUNNER=1 vllm serve m " + config, "no effect on model runner V2", "vllm@0.24"));
}

// VllmConfig::use_v2_model_runner; issue 51510.
TEST_CASE("a schedule that model runner V2 ignores is found where a version runs V2 by default") {
    const auto with = [](const std::string& method) {
        return for_vllm(R"("method": ")" + method +
                        R"(", "model": "m", "num_speculative_tokens": 5, )"
                        R"("num_speculative_tokens_per_batch_size": [[1, 16, 5], [17, 99, 0]])");
    };
    const std::string said = "has no effect on model runner V2, the default in vLLM 0.33 (issue 51510)";
    const auto command = [&](const std::string& target, const std::string& method) {
        return "vllm serve " + target + " --speculative-config '" + with(method) + "'";
    };
    const auto on = [&](const std::string& target, const std::string& engine) {
        return findings(command(target, "eagle3"), engine, {}, known_models);
    };
    CHECK(finds(command("m", "eagle3"), said));
    CHECK(findings(command("m", "eagle3"), "vllm@0.24") == "");
    CHECK(findings(command("m", "draft_model")) == "");  // V1 runs it
    CHECK(on("Qwen/Qwen3-8B", "vllm@0.26").find("the default of dense models in vLLM 0.26") != std::string::npos);
    CHECK(on("Qwen/Qwen3-30B-A3B", "vllm@0.26").empty());
    // Of which model or environment is not known: a note.
    CHECK(on("m", "vllm@0.26").empty());
    CHECK(notes(command("m", "eagle3"), "vllm@0.26").find("the default of dense models in vLLM 0.26") != std::string::npos);
    CHECK(findings(with("eagle3")) == "");
    CHECK(notes(with("eagle3")).find(said) != std::string::npos);
    CHECK(findings("VLLM_USE_V2_MODEL_RUNNER=$V vllm serve m --speculative-config '" + with("eagle3") + "'") == "");
}

TEST_CASE("vLLM's methods without a number of draft tokens do not start") {
    for (const char* method : {"eagle", "eagle3", "dflash", "draft_model"}) {
        CHECK(
            finds(for_vllm(R"("method": ")" + std::string(method) + R"(", "model": "m")"), "missing: num_speculative_tokens"));
    }
    CHECK(finds(for_vllm(R"("method": "mtp")"), "missing: num_speculative_tokens is needed by method mtp", "vllm@0.24"));
    CHECK(findings(for_vllm(R"("method": "mtp")"), "vllm@0.33") == "");  // mended after 0.28
    CHECK(findings(for_vllm(R"("method": "suffix")")) == "");            // its tree depth is the default
    CHECK(findings("vllm serve m -sc.method mtp -sc.num-speculative-tokens 2") == "");
}

TEST_CASE("what runs around vLLM's drafts") {
    const std::string config = R"( --speculative-config '{"method": "mtp", "num_speculative_tokens": 2}')";
    CHECK(findings("vllm serve m" + config) == "");
    CHECK(finds("vllm serve m --enforce-eager" + config, "downgrade: --enforce-eager"));
    CHECK(findings("vllm serve m --enforce-eager --kv-transfer-config '{\"kv_role\": \"kv_producer\"}'" + config) == "");
    // Which card it is for is not known: a note.
    CHECK(notes("vllm serve m --kv-cache-dtype fp8" + config).find("--kv-cache-dtype is fp8, for which vLLM takes") == 0);
    CHECK(findings("vllm serve m --kv-cache-dtype fp8" + config) == "");
    for (const std::string instead : {"vllm serve m --attention-config '{\"backend\": \"FLASH_ATTN\"}'",
                                      "vllm serve m --attention-config.backend FLASH_ATTN",
                                      "docker run vllm/vllm-openai-rocm:v0.24.0 m", "VLLM_ROCM_USE_AITER=1 vllm serve m"}) {
        INFO(instead);
        CHECK(notes(instead + " --kv-cache-dtype fp8" + config) == "");
    }
    CHECK(finds("VLLM_ATTENTION_BACKEND=FLASHINFER vllm serve m" + config, "downgrade: --attention-backend is FLASHINFER"));
    for (const char* single : {"CUTLASS_MLA", "ROCM_AITER_MLA", "cutlass_mla"}) {  // captured for one new token of a sequence
        CHECK(finds("vllm serve m --attention-backend " + std::string(single) + config, "captured for one new token"));
    }
    CHECK(findings("vllm serve m --attention-backend FLASHINFER_MLA" + config) == "");
    CHECK(findings("vllm serve m --kv-cache-dtype auto --attention-backend FLASH_ATTN" + config) == "");
    CHECK(finds("speculative-config:\n  method: mtp\n  num_speculative_tokens: 1\nenforce-eager: true\n",
                "downgrade: --enforce-eager"));
    const std::string stages = "contradiction: --pipeline-parallel-size is 2, with which vLLM does not start while it drafts";
    CHECK(finds("vllm serve m -pp 2" + config, stages));
    CHECK(finds("vllm serve m --pipeline-parallel-size 2 -sc.method eagle3 -sc.model d -sc.num_speculative_tokens 3", stages,
                "vllm@0.24"));
    CHECK(findings("vllm serve m --pipeline-parallel-size 2 -sc.method eagle3 -sc.model d -sc.num_speculative_tokens 3") == "");
    CHECK(findings("vllm serve m --pipeline-parallel-size 1" + config) == "");
    const std::string dspark = "vllm serve m -pp 2 -sc.method dspark -sc.model d -sc.num_speculative_tokens 7";
    CHECK(findings(dspark) == "");
    CHECK(notes(dspark).find("only from pull request 50514 on") != std::string::npos);
    const std::string lookup =
        R"(VLLM_USE_V2_MODEL_RUNNER=1 vllm serve m -sc '{"method": "ngram", "num_speculative_tokens": 2}')";
    for (const char* engine : {"vllm@0.24", "vllm"}) {
        CHECK(finds(lookup, "contradiction: method is ngram, which model runner V2 refuses", engine));
    }
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

TEST_CASE("a speculator's checkpoint says itself how to draft") {
    const std::string served = "vllm serve owner/Model-8B-speculator.eagle3";
    CHECK(findings(served) == "");
    CHECK(notes(served).find("owner/Model-8B-speculator.eagle3 is a checkpoint of a speculator") == 0);
    CHECK(notes("vllm serve owner/Model-8B").find("Nothing is drafted") == 0);
}

TEST_CASE("versions between 0.10 and 0.19 have rules of their own") {
    const std::string module = for_vllm(R"("method": "mtp", "num_speculative_tokens": 1)"),
                      suffix = for_vllm(R"("method": "suffix")"),
                      model = for_vllm(R"("method": "draft_model", "model": "m", "num_speculative_tokens": 2)");
    CHECK(finds(module, "does not know", "vllm@0.10.2"));
    CHECK(findings(module, "vllm@0.11.0").find("unknown") == std::string::npos);
    CHECK(notes(for_vllm(R"("method": "qwen3_next_mtp", "num_speculative_tokens": 1)"), "vllm@0.11.2").find("an old name") !=
          std::string::npos);
    CHECK(finds(suffix, "does not know", "vllm@0.11.0"));
    CHECK(findings(suffix, "vllm@0.11.1").find("unknown") == std::string::npos);
    CHECK(findings(suffix, "vllm@0.13").find("unknown") == std::string::npos);
    CHECK(finds(model, "this version rejects", "vllm@0.14"));
    CHECK(finds(model, "downgrade: method is draft_model", "vllm@0.15.1"));
}

TEST_CASE("an image older than all versions whose rules are known is not checked") {
    const std::string old = "docker run vllm/vllm-openai:v0.6.3 vllm serve m --speculative-model d --num-speculative-tokens 3";
    CHECK(findings(old) == "");
    CHECK(notes(old).find("vLLM 0.6.3 is older than the versions whose rules are known here, from 0.10 on") !=
          std::string::npos);
    CHECK(finds(old, "was removed with the V0 engine", "vllm"));  // the user knows better
    CHECK(
        finds("docker run vllm/vllm-openai:v0.10.1 vllm serve m --speculative-model d --num-speculative-tokens 3", "removed"));
}

TEST_CASE("captured sizes count wherever they are stated") {
    const std::string drafts = R"( --speculative-config '{"method": "mtp", "num_speculative_tokens": 1}')";
    CHECK(finds("vllm serve m --max-num-seqs 64 --cudagraph-capture-sizes 1 2 4 8" + drafts,
                "more than 4 of the 64 sequences run without a graph"));
    CHECK(findings("vllm serve m --max-num-seqs 64 --cudagraph-capture-sizes 1 2 4 8 128" + drafts).find("without a graph") ==
          std::string::npos);
    CHECK(
        finds("model: m\nmax-num-seqs: 200\nmax-cudagraph-capture-size: 209\nspeculative-config:\n  method: mtp\n"
              "  num_speculative_tokens: 2\n",
              "more than 69 of the 200 sequences run without a graph"));
}

TEST_CASE("keys with dashes are written with underscores, and bold flags are flags") {
    CHECK(finds(for_vllm(R"("method": "mtp", "num_speculative_tokens": 1, "max-model-len": 2000)"), "write \"max_model_len\""));
    CHECK(findings("./llama-server \\\n    **--model m.gguf \\**\n    **--spec-type draft-mtp --spec-draft-n-max 3**\n") == "");
}

TEST_CASE("a draft model runs on all ranks of its target, a head on those or one") {
    const auto command = [](const char* ranks, const char* method, const char* of_draft) {
        return std::string("vllm serve m ") + ranks + R"( --speculative-config '{"method": ")" + method +
               R"(", "model": "d", "num_speculative_tokens": 3, "draft_tensor_parallel_size": )" + of_draft + "}'";
    };
    const char* whole = "but a draft model runs on all 4 ranks of the target";
    CHECK(finds(command("--tensor-parallel-size 4", "draft_model", "1"), whole));
    CHECK(findings(command("--tensor-parallel-size 4", "draft_model", "4")) == "");
    CHECK(findings(command("-tp 4", "eagle3", "1")) == "");
    CHECK(finds(command("-tp 4", "eagle3", "2"), "must be 1 or --tensor-parallel-size, which is 4"));
    CHECK(findings(command("", "draft_model", "1")) == "");
    CHECK(findings(command("", "eagle3", "2")) == "");  // how the target is shared is not said
}

TEST_CASE("numbers of speculation that vLLM refuses, and a configuration that is given twice") {
    const std::string eagle = R"("method": "eagle3", "model": "m", "num_speculative_tokens": 3)";
    CHECK(findings(for_vllm(eagle + R"(, "draft_tensor_parallel_size": 0)")) ==
          "value: draft_tensor_parallel_size must be a whole number above 0, not 0.\n");
    CHECK(finds(for_vllm(R"("method": "eagle3", "model": "m", "num_speculative_tokens": 2.5)"),
                "value: num_speculative_tokens must be a whole number above 0, not 2.5"));
    CHECK(finds(for_vllm(R"("method": "suffix", "suffix_decoding_min_token_prob": 1.5)"),
                "value: suffix_decoding_min_token_prob must be a number between 0 and 1, not 1.5"));
    CHECK(findings(for_vllm(eagle + R"(, "draft_tensor_parallel_size": null)")) == "");
    const std::string flag = " --speculative-config '" + for_vllm(eagle) + "'";
    CHECK(findings("vllm serve m" + flag + flag) ==
          "contradiction: --speculative-config appears twice; only the last one counts.\n");
    CHECK(finds("vllm serve m" + flag + " -sc '" + for_vllm(eagle) + "'", "--speculative-config appears twice"));
    CHECK(findings("vllm serve m" + flag) == "");
}

}  // namespace lint_vllm_test
