// What engines refuse or need for some models and versions: checks of SGLang by architecture, flags that came with a version,
// and versions older than the model.
#include <catch2/catch.hpp>

#include "engines/capabilities.h"
#include "lint_findings.h"
#include "recommendations.h"

namespace model_rules_test {
using namespace treeline;
using namespace treeline::engines;
using namespace treeline::testing;

namespace {

const sim::OneLayerDrafter modules{0, 2, sim::OneLayerKind::mtp};

EngineFlags flags_of(const std::string& target, const std::string& engine, const sim::Drafter& drafter = modules) {
    sweeps::Recommendation found = recommendation_of(drafter, 3, schedule_of({{1, 3}}, 64));
    found.variants.front().setup.target = model(target);
    return flags_for(found, engine);
}

bool says(const std::string& text, const std::string& what) {
    UNSCOPED_INFO(text);
    return text.find(what) != std::string::npos;
}

/// The command of SGLang's issue 38236 with another algorithm and width.
std::string issue_38236(const std::string& algorithm, const std::string& width) {
    return "python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V4-Flash --tp 2 --speculative-algorithm " +
           algorithm + " --speculative-num-steps 2 " + width + "--speculative-num-draft-tokens 3";
}

}  // namespace

// arg_groups/deepseek_v4_hook.py of SGLang asserts that the algorithm is EAGLE or DSPARK and that the width is 1, before NEXTN
// is known as another name of EAGLE. The issue says that its command starts with EAGLE.
TEST_CASE("SGLang drafts for DeepSeek-V4 with EAGLE at an explicit width of 1, or with DSPARK") {
    CHECK(says(flags_of("deepseek-v4-pro", "sglang").text,
               "--speculative-algorithm EAGLE --speculative-num-steps 3 "
               "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4"));
    CHECK(says(flags_of("deepseek-v3", "sglang").text, "--speculative-algorithm NEXTN "));
    CHECK(says(flags_of("deepseek-v4-pro", "sglang", sim::NgramDrafter{}).remark, "with EAGLE and DSPARK alone"));
    CHECK(flags_of("deepseek-v4-pro", "vllm", sim::NgramDrafter{}).remark.find("alone") == std::string::npos);

    const std::string width = "--speculative-eagle-topk 1 ";
    CHECK(finds(issue_38236("NEXTN", width), "write EAGLE, which means the same"));
    CHECK(finds(issue_38236("ngram", width), "takes EAGLE and DSPARK alone for DeepSeek-V4"));
    CHECK(finds(issue_38236("EAGLE", ""), "must be given as 1 for DeepSeek-V4"));
    CHECK(findings(issue_38236("EAGLE", width)).empty());
    CHECK(
        finds("sglang serve --model-path deepseek-ai/DeepSeek-V4.1-Flash --speculative-algorithm EAGLE "
              "--speculative-num-steps 2 --speculative-eagle-topk 1 --speculative-num-draft-tokens 3",
              "takes DSPARK alone for DeepSeek-V4.1"));
}

// kvcached names both (integration/sglang/patches.py): enable_gdn_replayssm_spec in 0.5.16, renamed in 0.5.17.
TEST_CASE("a flag that came with a version is neither printed nor passed before") {
    const std::string flag = "--enable-linear-replayssm-spec", first = "--enable-gdn-replayssm-spec";
    CHECK(find_engine("sglang@0.5.9").flag_at(flag).empty());
    CHECK(find_engine("sglang@0.5.11").flag_at(flag).empty());
    CHECK(find_engine("sglang@0.5.16").flag_at(flag) == first);
    CHECK(find_engine("sglang@0.5.17").flag_at(flag) == flag);
    CHECK(find_engine("sglang").flag_at(flag) == flag);
    CHECK(find_engine("sglang@0.5.9").flag_at("--tp-size") == "--tp-size");  // in no list

    sweeps::Recommendation found = recommendation_of(modules, 3, schedule_of({{1, 3}}, 64));
    sim::RoundSetup& setup = found.variants.front().setup;
    setup.target = model("qwen3.5-27b");
    setup.rollback = sim::Rollback::ring;
    setup.platform.stack.states.rollback_flags = {{sim::Rollback::ring, flag}};
    CHECK(says(testing::flags_for(found, "sglang@0.5.11").remark,
               "has no " + flag + ", with which it would roll back by ring; it came with 0.5.17 (it has replay, "));
    CHECK(says(testing::flags_for(found, "sglang@0.5.16").text, first));
    CHECK(says(testing::flags_for(found, "sglang").text, flag));

    const std::string command = "sglang serve --model-path m --speculative-algorithm EAGLE " + flag;
    CHECK(finds(command, "is not known to SGLang 0.5.11: it came with 0.5.17", "sglang@0.5.11"));
    CHECK(finds(command, "is called " + first, "sglang@0.5.16"));
    CHECK(findings(command, "sglang@0.5.17").find(flag) == std::string::npos);
}

// Ends of SGLang 0.5.10 with Qwen3.5 and NEXTN, as its own error says (server_args.py, _handle_mamba_radix_cache), and what
// Nemotron-H needs in its place: extra_buffer is refused there.
TEST_CASE("SGLang 0.5.10 is told how to keep recurrent states while it drafts") {
    const std::string buffered = flags_of("qwen3.5-27b", "sglang@0.5.10").text;
    CHECK(says(buffered, "SGLANG_ENABLE_SPEC_V2=1 python -m sglang.launch_server "));
    CHECK(says(buffered, " --mamba-scheduler-strategy extra_buffer"));
    CHECK(says(flags_of("nemotron-3-nano-30b-a3b", "sglang@0.5.10").text, " --disable-radix-cache"));
    for (const char* other : {"sglang@0.5.9", "sglang@0.5.16", "sglang"}) {
        CHECK_FALSE(says(flags_of("qwen3.5-27b", other).text, "--mamba-scheduler-strategy"));
    }
    CHECK_FALSE(says(flags_of("qwen3-8b", "sglang@0.5.10").text, "--mamba-scheduler-strategy"));

    const std::string stated =
        "sglang serve --model-path Qwen/Qwen3.5-27B --speculative-algorithm NEXTN --mamba-scheduler-strategy no_buffer";
    CHECK(finds(stated, "take extra_buffer, with SGLANG_ENABLE_SPEC_V2=1", "sglang@0.5.10"));
    CHECK(finds(stated, "does not go with the overlapped scheduler"));
    CHECK_FALSE(says(findings(stated + " --disable-radix-cache", "sglang@0.5.10"), "no_buffer"));
    CHECK_FALSE(says(findings(stated + " --disable-overlap-schedule"), "no_buffer"));
    CHECK_FALSE(says(findings(stated, "sglang@0.5.9"), "no_buffer"));  // which drops the shared prefixes by itself
}

// min_vllm_version of vLLM's recipes: Qwen3.5 0.17.0, DeepSeek-V4 0.20.0, Qwen3-32B 0.8.5.
TEST_CASE("an engine older than the model's architecture will not load it") {
    for (const auto& [target, engine, older] : {std::tuple{"qwen3.5-27b", "vllm@0.10", true},
                                                {"qwen3.8-27b", "vllm@0.15", true},
                                                {"qwen3.8-27b", "vllm@0.17", false},
                                                {"deepseek-v4-pro", "sglang@0.5.9", true},
                                                {"deepseek-v4-pro", "vllm@0.20", false},
                                                {"qwen3-32b", "vllm@0.10", false},
                                                {"qwen3.5-27b", "vllm", false}}) {
        INFO(target << " on " << engine);
        CHECK((flags_of(target, engine).remark.find("will not load") != std::string::npos) == older);
    }
    CHECK(says(
        flags_of("qwen3.5-27b", "vllm@0.10").remark,
        "vLLM 0.10 will not load qwen3.5-27b: 0.11 followed it by October 2025, and models of this architecture were first "
        "published in February 2026"));
}

// MambaBase.get_kv_cache_spec of vLLM 0.15 ("Mamba with speculative decoding is not supported yet"), until pull request 33726.
TEST_CASE("vLLM before 0.17 drafts nothing for models with Mamba's states") {
    const std::string said = "vLLM 0.11 drafts nothing for models with recurrent states";
    CHECK(says(flags_of("granite-4.0-h-small", "vllm@0.11", sim::NgramDrafter{}).remark, said));
    CHECK(flags_of("granite-4.0-h-small", "vllm@0.11", sim::NgramDrafter{}).text.empty());
    CHECK_FALSE(flags_of("granite-4.0-h-small", "vllm@0.17", sim::NgramDrafter{}).text.empty());
    CHECK_FALSE(flags_of("qwen3-next-80b-a3b", "vllm@0.11").text.empty());

    const std::string command =
        R"(vllm serve ibm-granite/granite-4.0-h-small -sc '{"method": "ngram", "num_speculative_tokens": 3}')";
    CHECK(says(findings(command, "vllm@0.11", {}, known_models), "method is ngram, but " + said));
    CHECK(findings(command, "vllm@0.17", {}, known_models).empty());
    CHECK(findings(command, "vllm@0.11").empty());  // of a model that is not known
}

// verify_equal_vocab_size_if_draft_model of vLLM, which use_heterogeneous_vocab goes around; pull request 23838 of SGLang.
TEST_CASE("a draft model whose embedding has another number of rows") {
    const sim::IndependentDrafter small{model("qwen2.5-0.5b"), {}};  // 151,936 rows; 152,064 of the target
    const std::string said = "another number of rows than the target's: 151936 and 152064";
    CHECK(says(flags_of("qwen2.5-32b", "vllm@0.19", small).remark, said));
    CHECK(flags_of("qwen2.5-32b", "vllm@0.19", small).text.empty());
    CHECK(says(flags_of("qwen2.5-32b", "vllm", small).text, R"("use_heterogeneous_vocab":true)"));
    CHECK(says(flags_of("qwen2.5-32b", "sglang", small).remark, said));
    CHECK_FALSE(flags_of("qwen2.5-32b", "sglang@0.5.11", small).text.empty());
    CHECK_FALSE(flags_of("qwen2.5-32b", "llama.cpp", small).text.empty());
    CHECK_FALSE(says(flags_of("qwen2.5-7b", "vllm", {sim::IndependentDrafter{model("qwen2.5-7b"), {}}}).text, "heterogeneous"));

    const std::string more = R"(, "num_speculative_tokens": 3)";
    const auto command = [](const std::string& members) {
        return R"(vllm serve Qwen/Qwen2.5-32B-Instruct -sc '{"method": "draft_model", "num_speculative_tokens": 3, "model": )" +
               members + "}'";
    };
    const std::string other = R"("Qwen/Qwen2.5-0.5B-Instruct")";
    CHECK(
        says(findings(command(other), "vllm@0.19", {}, known_models), "has 151936 rows, where the served model's has 152064"));
    CHECK(says(findings(command(other), "", {}, known_models), R"(add "use_heterogeneous_vocab": true)"));
    CHECK(findings(command(other + R"(, "use_heterogeneous_vocab": true)"), "", {}, known_models).empty());
    CHECK(says(findings("sglang serve --model-path Qwen/Qwen2.5-32B-Instruct --speculative-algorithm STANDALONE "
                        "--speculative-draft-model-path Qwen/Qwen2.5-0.5B-Instruct --speculative-num-steps 3 "
                        "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
                        "", {}, known_models),
               "--speculative-draft-model-path is Qwen/Qwen2.5-0.5B-Instruct, whose embedding has 151936 rows"));
}

// supported-models.md of TensorRT-LLM; pull request 34556 of SGLang; 37951 of transformers.
TEST_CASE("models of Mamba's blocks alone: who loads them, and from which checkpoint") {
    const auto plain = [](const std::string& target, const std::string& engine) {
        sweeps::Recommendation found = recommendation_of(sim::NoDrafter{}, 0, schedule_of({}, 8));
        found.variants.front().setup.target = model(target);
        found.speculate = false;
        return testing::flags_for(found, engine);
    };
    CHECK(says(flags_of("mamba2-2.7b", "tensorrt-llm", sim::NgramDrafter{}).remark, "will not load mamba2-2.7b"));
    CHECK(says(flags_of("mamba2-2.7b", "sglang@0.5.11", sim::NgramDrafter{}).remark, "will not load mamba2-2.7b"));
    CHECK_FALSE(says(flags_of("mamba2-2.7b", "sglang", sim::NgramDrafter{}).remark, "will not load"));
    CHECK(says(flags_of("mamba2-2.7b", "vllm", sim::NgramDrafter{}).remark,
               "state-spaces/mamba2-2.7b is stored for mamba_ssm: convert it to Hugging Face's format first"));
    CHECK(says(plain("mamba-2.8b", "vllm").text + flags_of("mamba-2.8b", "vllm", sim::NgramDrafter{}).text,
               "state-spaces/mamba-2.8b-hf"));
    CHECK_FALSE(says(flags_of("mamba-2.8b", "vllm", sim::NgramDrafter{}).remark, "mamba_ssm"));
    CHECK_FALSE(says(flags_of("nemotron-3-nano-30b-a3b", "tensorrt-llm", sim::NgramDrafter{}).remark, "will not load"));
}

// Names of the checkpoints: vLLM's recipes. --quantization fp8: "Online Dynamic Quantization" in the documentation of vLLM.
TEST_CASE("commands name the checkpoint in the format that is priced") {
    const auto text = [](const std::string& target, const std::string& format, const std::string& engine) {
        sweeps::Recommendation found = recommendation_of(modules, 3, schedule_of({{1, 3}}, 64));
        sweeps::Variant& variant = found.variants.front();
        variant.setup.target = model(target);
        variant.labels.precision = format;
        variant.setup.precision = sim::checkpoint_precision(format == "fp8"    ? sim::NumberFormat::fp8
                                                            : format == "int4" ? sim::NumberFormat::int4
                                                                               : sim::NumberFormat::fp4,
                                                            sim::NumberFormat::bf16);
        return testing::flags_for(found, engine).text;
    };
    CHECK(says(text("qwen3.5-27b", "fp8", "vllm"), "vllm serve Qwen/Qwen3.5-27B-FP8 "));
    CHECK(says(text("qwen3.6-27b", "nvfp4", "sglang"), "--model-path nvidia/Qwen3.6-27B-NVFP4 "));
    CHECK(says(text("qwen3-8b", "fp8", "vllm"), "vllm serve Qwen/Qwen3-8B --quantization fp8 "));
    CHECK(says(text("qwen3-8b", "fp8", "sglang"), "--model-path Qwen/Qwen3-8B --quantization fp8 "));
    CHECK(says(text("qwen3.6-27b", "int4", "vllm"), "vllm serve 'Qwen/Qwen3.6-27B stored as int4' "));
    CHECK(says(text("qwen3-8b", "fp8", "tensorrt-llm"), "trtllm-serve 'Qwen/Qwen3-8B stored as fp8' "));
}

// A compute tray of an NVL72 rack has four GPUs (NVIDIA's data sheet), an HGX board eight.
TEST_CASE("devices of a host are those of its boards") {
    sweeps::Recommendation found = recommendation_of(modules, 3, schedule_of({{1, 3}}, 64));
    sim::Platform& platform = found.variants.front().setup.platform;
    platform.device = device("gb200");
    platform.ranks = 8.0;
    CHECK(says(testing::flags_for(found, "vllm").remark, "8 devices are 2 hosts of 4"));
    platform.device = device("b200");
    CHECK_FALSE(says(testing::flags_for(found, "vllm").remark, "hosts of"));
}

TEST_CASE("the versions of llama.cpp before the first that is known take its flags, and that is said") {
    CHECK(find_engine("llama.cpp@b6077").label() == "llama.cpp b6077 (as b9987)");
    CHECK(says(flags_of("qwen3-8b", "llama.cpp@b6077").remark, "flags of versions before b9987 are not known"));
    CHECK(says(notes("llama-server -m a.gguf --spec-type draft-mtp", "llama.cpp@b6077"), "before b9987 are not known"));
}

}  // namespace model_rules_test
