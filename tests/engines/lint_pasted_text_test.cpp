// What people paste around a command: prose, fences, clients of benchmarks, servers that draft nothing, and images whose tags
// say more than a version. Flags and tags are those of the engines' own documents and registries.
#include "lint_findings.h"

namespace lint_pasted_text_test {

using namespace treeline;
using namespace treeline::testing;

namespace {

const std::string served =
    "vllm serve Qwen/Qwen3.6-27B --speculative-config '{\"method\":\"mtp\",\"num_speculative_tokenz\":3}'\n";
const std::string misspelt = "unknown: num_speculative_tokenz";

}  // namespace

TEST_CASE("where there are fences, prose beside them is not read") {
    CHECK(finds("I'm seeing this:\n\n```shell\n" + served + "```\n", misspelt));
    CHECK(finds("```shell\n" + served + "```\n\nIt doesn't get faster.\n", misspelt));
    CHECK(finds("Here's what I run\n```\n" + served, misspelt));  // a fence that stays open
    CHECK(finds("The server's log:\n```\nRunning: 1 reqs\n```\nand its command:\n```sh\n" + served + "```\n", misspelt));
    // Fences around a file; a text without any is read as it is.
    CHECK(finds("It's this:\n```yaml\nspeculative-config:\n  method: mtp\n  num_speculative_tokenz: 3\n```\n", misspelt));
    CHECK(finds(served, misspelt));
}

TEST_CASE("without fences, spans of code are read where an apostrophe of prose would open a quote") {
    CHECK(finds("It's `--speculative-config '{\"method\":\"mtp\",\"num_speculative_tokenz\":2}'`, and that's 3.6's speed.\n",
                misspelt));
    CHECK(problem("It's slow.\n").find("ends within a quote") != std::string::npos);
}

TEST_CASE("a client of a benchmark is named and not checked") {
    for (const std::string client : {"python -m sglang.bench_serving --backend sglang --num-prompts 50",
                                     "python -m sglang.benchmark.serving --backend sglang --model m",
                                     "vllm bench serve --model m --dataset-name random --max-concurrency 8"}) {
        INFO(client);
        CHECK(findings(client + "\n").empty());
        CHECK(checked(client + "\n").form == "the command of a client of benchmarks");
        CHECK(notes(client + "\n").find("drafts nothing itself") != std::string::npos);
        // Beside a server its flags are not the server's.
        CHECK(findings(client + " --speculative-num-stepz 3\n" + served) == findings(served));
    }
    CHECK(problem("docker model configure --speculative-num-tokens 16 ai/llama3.3\n").find("Docker Model Runner") !=
          std::string::npos);
}

TEST_CASE("a server that drafts nothing is a note, and flags of speculation that start none are a finding") {
    for (const std::string server :
         {"vllm serve m\n", "python -m sglang.launch_server --model-path m\n", "llama-server -m a.gguf\n",
          "services:\n  a:\n    image: lmsysorg/sglang:v0.5.11\n    command: --model-path x\n",
          "services:\n  a:\n    image: ghcr.io/ikawrakow/ik-llama-cpp:latest\n    command: -m a.gguf\n"}) {
        INFO(server);
        CHECK(findings(server).empty());
        CHECK_FALSE(notes(server).empty());
    }
    CHECK(
        finds("python -m sglang.launch_server --model-path m --speculative-num-steps 3\n", "missing: --speculative-algorithm"));
    CHECK(finds("llama-server -m a.gguf --spec-draft-n-max 3\n", "missing: --spec-type"));
}

TEST_CASE("an image's version stands anywhere in its tag") {
    const auto label = [](const std::string& image) {
        return checked(
                   "services:\n  a:\n    image: " + image +
                   "\n    command: --model x --speculative-config.method ngram --speculative-config.num_speculative_tokens 3\n")
            .engine.asked;
    };
    CHECK(label("vllm/vllm-openai:vllm-x86_64-cu13-0.25.1-7a33ba9") == "0.25.1");
    CHECK(label("vllm/vllm-openai:v0.25.1-x86_64") == "0.25.1");
    CHECK(label("rocm/vllm:rocm6.4.1_vllm_0.20.1_20250702") == "0.20.1");
    CHECK(label("vllm/vllm-openai:nightly-cu13-7a33ba9").empty());  // the newest
}

TEST_CASE("a recipe's GPU decides what is noted, and the key that says it is what a finding names") {
    const std::string decode =
        "model:\n  container: vllm/vllm-openai:v0.25.1\nbackend:\n  type: vllm\n  vllm_config:\n    decode:\n"
        "      kv-cache-dtype: fp8\n      max-num-seqs: 256\n      max-cudagraph-capture-size: 64\n"
        "      compilation-config: '{\"cudagraph_mode\":\"FULL_DECODE_ONLY\"}'\n"
        "      speculative-config: '{\"method\":\"mtp\",\"num_speculative_tokens\":3}'\nresources:\n  gpu_type: ";
    CHECK(finds(decode + "b200\n", "--max-cudagraph-capture-size captures at most 64 tokens"));
    CHECK(notes(decode + "b200\n").find("compute capability") == std::string::npos);
    CHECK(notes(decode + "l40s\n").find("compute capability 8 and 12") != std::string::npos);
}

TEST_CASE("each engine of several servers is in the result") {
    const std::string file =
        "services:\n  a:\n    image: vllm/vllm-openai:v0.19.1\n    command: --speculative-config.method ngram "
        "--speculative-config.num_speculative_tokens 3\n"
        "  b:\n    image: lmsysorg/sglang:v0.5.9\n    command: --model-path x --speculative-algorithm NGRAM\n";
    const auto result = checked(file);
    CHECK(result.engine.label() == "vLLM 0.19.1 (as 0.19)");
    REQUIRE(result.other_engines.size() == 1);
    CHECK(result.other_engines[0].title == "SGLang");
}

TEST_CASE("what a script prints is no command, and a script may be in UTF-16") {
    CHECK(findings("flags() {\n  case \"$1\" in\n    a) echo \"--spec-type ngram-mod --spec-ngram-mod-n-max $2\" ;;\n"
                   "    b) echo \"--spec-type draft-mtp\" ;;\n  esac\n}\nllama-server -m a.gguf $(flags \"$X\" 3)\n")
              .empty());
    std::string utf16 = "\xFF\xFE";
    for (const char c : served) {
        utf16 += c;
        utf16 += '\0';
    }
    CHECK(finds(utf16, misspelt));
}

TEST_CASE("an engine's version that is listed is that one, and no later one that begins so") {
    CHECK(engines::find_engine("vllm@0.11").version == "0.11");
    CHECK(engines::find_engine("vllm@0.11.0").version == "0.11");
    CHECK(engines::find_engine("vllm@0.11.1").version == "0.11.1");
}

}  // namespace lint_pasted_text_test
