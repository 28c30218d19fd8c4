// Recipes of srt-slurm: the engine by the backend, flags as keys under the role of each worker, variants over a base.
#include "lint_findings.h"

namespace lint_recipes_test {

using namespace treeline::testing;
using treeline::engines::EngineName;

namespace {

std::string recipe(const std::string& backend, const std::string& container = "my-image") {
    return "name: x\nmodel:\n  container: " + container + "\nresources:\n  gpu_type: h100\nbackend:\n" + backend;
}

const std::string eagle =
    "      speculative-algorithm: EAGLE\n      speculative-eagle-topk: 1\n      speculative-num-draft-tokens: 4\n"
    "      speculative-draft-model-path: /d\n";

}  // namespace

TEST_CASE("a recipe's backend names the engine, by its type or by its configuration") {
    const std::string flags = "    decode:\n" + eagle + "      speculative-num-steps: 3\n";
    for (const std::string type : {"", "  type: sglang\n", "  type: \"sglang\"\n"}) {
        const auto result = checked(recipe(type + "  sglang_config:\n" + flags));
        CHECK(result.engine.name == EngineName::sglang);
        CHECK(result.form == "a worker of a recipe in YAML");
        CHECK(result.findings.empty());
    }
    const std::string vllm_flags = "    aggregated:\n      speculative-config: '{\"method\": \"eagel3\"}'\n";
    CHECK(finds(recipe("  type: vllm\n  vllm_config:\n" + vllm_flags), "did you mean \"eagle3\"?"));
    CHECK(checked(recipe("  type: vllm\n  vllm_config:\n" + vllm_flags)).engine.name == EngineName::vllm);
    const std::string mtp = "    decode:\n      speculative_config:\n        decoding_type: MTP\n        max_draft_lenn: 2\n";
    CHECK(finds(recipe("  type: trtllm\n  trtllm_config:\n" + mtp), "did you mean \"max_draft_len\"?"));
    CHECK(checked(recipe("  type: trtllm\n  trtllm_config:\n" + mtp)).engine.name == EngineName::tensorrt_llm);
    CHECK(finds(recipe("  sglang_config:\n    decode:\n" + eagle + "      speculative-num-stepz: 3\n"),
                "--speculative-num-stepz", "sglang"));
}

TEST_CASE("each worker of a recipe that drafts is checked, at the version of its image") {
    const std::string both = "  sglang_config:\n    prefill:\n" + eagle + "      speculative-num-steps: 3\n    decode:\n" +
                             eagle + "      speculative-num-stepz: 3\n";
    CHECK(finds(recipe(both), "decode: --speculative-num-stepz"));
    CHECK_FALSE(finds(recipe(both), "prefill: "));
    CHECK(checked(recipe(both)).form == "2 servers");
    CHECK(notes(recipe(both, "lmsysorg/sglang:v0.5.8-cu130")).find("decode: SGLang 0.5.8 is older") != std::string::npos);
    CHECK(finds(recipe(both, "lmsysorg/sglang:v0.5.9"), "unknown to SGLang 0.5.9"));
}

TEST_CASE("a worker that reads prompts runs no rounds, so that graphs are no matter of it") {
    const std::string flags =
        "      speculative_config:\n        decoding_type: MTP\n        max_draft_len: 2\n"
        "      cuda_graph_config: null\n";
    CHECK(findings(recipe("  type: trtllm\n  trtllm_config:\n    prefill:\n" + flags)).empty());
    CHECK(finds(recipe("  type: trtllm\n  trtllm_config:\n    decode:\n" + flags), "switches CUDA graphs off"));
    const std::string served =
        "python -m sglang.launch_server --model-path M --speculative-algorithm NEXTN --disable-cuda-graph";
    CHECK(finds(served, "downgrade"));
    CHECK_FALSE(finds(served + " --disaggregation-mode prefill", "downgrade"));
}

TEST_CASE("variants of a recipe are its base with what they change") {
    const std::string base =
        "base:\n  model:\n    container: x\n  backend:\n    type: sglang\n    sglang_config:\n      decode:\n        tp-size: "
        "4\n"
        "        speculative-num-stepz: 1\n";
    const std::string drafts =
        "    sglang_config:\n      decode:\n        speculative-algorithm: NEXTN\n        speculative-num-steps: ";
    // The base alone is not run; null takes a key away.
    const std::string one = base + "override_a:\n  name: a\n  backend:\n" + drafts + "3\noverride_b:\n  backend:\n" + drafts +
                            "3\n        speculative-num-stepz: null\n";
    CHECK(findings(one).find("a decode: --speculative-num-stepz") != std::string::npos);
    CHECK(findings(one).find("b decode: --speculative-num-stepz") == std::string::npos);
    // Lists in a zipped variant are one each; of variants that are alike in their flags one is checked.
    const std::string zipped = base + "zip_override_c:\n  name: [x, y]\n  backend:\n" + drafts + "[3, x]\n";
    CHECK(checked(zipped).form == "2 servers");
    CHECK(finds(zipped, "c 1 decode"));
    CHECK(checked(base + "zip_override_c:\n  name: [x, y]\n  backend:\n" + drafts + "3\n").form ==
          "a worker of a recipe in YAML");
}

TEST_CASE("a recipe that drafts nothing says so, and so does one of an engine without rules") {
    CHECK(notes(recipe("  type: trtllm\n  trtllm_config:\n    decode:\n      max_batch_size: 8\n")) ==
          "Nothing in this file drafts: it starts workers of TensorRT-LLM without a flag of speculation.\n");
    CHECK(problem(recipe("  type: mocker\n  engine_type: vllm\n")).find("backend: type is mocker, whose settings") == 0);
    CHECK(notes("base:\n  model:\n    container: x\n  backend:\n    sglang_config:\n      decode:\n        tp-size: 4\n")
              .find("Nothing in this file drafts") == 0);
}

TEST_CASE("values that a recipe sweeps are not known") {
    const std::string flags = "  sglang_config:\n    decode:\n      speculative-algorithm: \"{method}\"\n";
    CHECK(finds(recipe(flags), "--speculative-algorithm"));
    const std::string swept = recipe(flags) + "sweep:\n  method: [EAGLE, NEXTN]\n";
    CHECK(notes(swept).find("--speculative-algorithm is not known here ($method)") != std::string::npos);
    CHECK_FALSE(finds(swept, "{method}"));
}

}  // namespace lint_recipes_test
