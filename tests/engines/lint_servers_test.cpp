// A file may start several servers: each is checked, and what is said names which one it is about.
#include "lint_findings.h"

namespace lint_servers_test {

using namespace treeline::testing;

namespace {

std::string service(const std::string& name, const std::string& image, const std::string& config) {
    return "  " + name + ":\n    image: " + image + "\n    command: [\"--model\", \"M\", \"--speculative-config\", '" + config +
           "']\n";
}

const std::string vllm_image = "vllm/vllm-openai:v0.24.0";
const std::string good = R"({"method":"ngram","num_speculative_tokens":3})";
const std::string bad = R"({"method":"ngram","num_speculative_tokens":3,"prompt_lookup_mx":4})";

}  // namespace

TEST_CASE("every service of Compose is checked, whatever their order") {
    for (const bool bad_first : {false, true}) {
        const std::string one = service("steady", vllm_image, good), other = service("wrong", vllm_image, bad);
        const std::string file = "services:\n" + (bad_first ? other + one : one + other);
        CHECK(findings(file) ==
              "unknown: wrong: prompt_lookup_mx is unknown to vLLM 0.24.0 (as 0.24); did you mean \"prompt_lookup_max\"?\n");
        CHECK(checked(file).form == "2 servers");
    }
    // One alone has no name in front.
    CHECK(findings("services:\n" + service("wrong", vllm_image, bad)).find("unknown: prompt_lookup_mx") == 0);
}

TEST_CASE("servers of two engines in one file go by their own rules, and the engine asked for is that of those that run it") {
    const std::string file =
        "services:\n"
        "  a:\n    image: lmsysorg/sglang:v0.5.9\n"
        "    command: python -m sglang.launch_server --model-path M --speculative-algorithm EAGLE3 "
        "--speculative-draft-model-path D --speculative-num-stepz 3\n" +
        service("b", vllm_image, bad);
    CHECK(finds(file, "a: --speculative-num-stepz"));
    CHECK(finds(file, "b: prompt_lookup_mx is unknown to vLLM 0.24"));
    CHECK(finds(file, "b: prompt_lookup_mx is unknown to vLLM 0.24", "sglang"));
}

TEST_CASE("documents of Kubernetes, commands of a script and models of llama-swap are servers of their own") {
    const auto pod = [](const std::string& name, const std::string& config) {
        return "kind: Pod\nspec:\n  containers:\n  - name: " + name + "\n    image: " + vllm_image +
               "\n    args: [\"--speculative-config\", '" + config + "']\n";
    };
    CHECK(finds(pod("first", good) + "---\n" + pod("second", bad), "second: prompt_lookup_mx"));
    const std::string script =
        "vllm serve A --speculative-config '" + bad + "' &\nvllm serve B --speculative-config '" + good + "'\n";
    CHECK(findings(script).find("server 1: prompt_lookup_mx") != std::string::npos);
    CHECK(findings(script).find("server 2") == std::string::npos);
    const auto values = [](const std::string& config) {  // of a chart: nothing names the server
        return "image: " + vllm_image + "\nargs: [\"--speculative-config\", '" + config + "']\n";
    };
    CHECK(finds(values(good) + "---\n" + values(bad), "server 2: prompt_lookup_mx"));
    const std::string swap =
        "models:\n  a:\n    cmd: llama-server -m t.gguf -md d.gguf --draft-max 8\n"
        "  b:\n    cmd: llama-server -m t.gguf -md d.gguf --draft-maxx 8\n";
    CHECK(finds(swap, "b: --draft-maxx"));
}

TEST_CASE("containers that are alike, fragments of Compose and a baseline without drafts are no further servers") {
    const std::string fragment = "x-common: &common\n" + service("vllm", vllm_image, bad);
    CHECK(findings(fragment + "services:\n" + service("one", vllm_image, good)).empty());
    const std::string twice = "services:\n" + service("one", vllm_image, bad) + service("two", vllm_image, bad);
    CHECK(findings(twice).find("unknown: prompt_lookup_mx") == 0);
    CHECK(findings("vllm serve A\nvllm serve A --speculative-config '" + bad + "'\n").find("unknown: prompt_lookup_mx") == 0);
}

}  // namespace lint_servers_test
