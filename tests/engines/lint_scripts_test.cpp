// Does lint read scripts as a shell does: lists, branches, patterns, defaults?
#include <catch2/catch.hpp>

#include "lint_findings.h"

namespace lint_scripts_test {

using namespace treeline;
using namespace treeline::engines;
using namespace treeline::testing;

std::vector<std::string> words_of(const std::string& text) { return split_command_line(text).words; }

using Words = std::vector<std::string>;

TEST_CASE("lists of bash stand where they are put in") {
    CHECK(words_of("A=(-x 'b c')\np \"${A[@]}\" ${A[*]} d") == Words{"p", "-x", "b c", "-x", "b c", "d"});
    CHECK(words_of("A=(-x)\nA+=(-y z)\np \"${A[@]}\"") == Words{"p", "-x", "-y", "z"});
    CHECK(words_of("A=()\np \"${A[@]}\" ${A[@]+\"${A[@]}\"} q") == Words{"p", "q"});
    CHECK(words_of("A=(-x)\np ${A[@]+\"${A[@]}\"} q") == Words{"p", "-x", "q"});
    CHECK(words_of("A=(x)\nB=(p \"${A[@]}\")\n\"${B[@]}\" &") == Words{"p", "x", "&"});
    // What nothing puts in stands where it is written; what never closes is no list.
    CHECK(words_of("A=(p -x)") == Words{"p", "-x"});
    CHECK(words_of("A=(p -x") == Words{"p", "-x"});
    CHECK(words_of("p 'a'=(b)").front() == "p");
}

TEST_CASE("flags in a list of bash are checked") {
    const std::string zero = R"('{"method":"mtp","num_speculative_tokens":0}')";
    const std::string list = "ARGS=(--speculative-config " + zero + ")\n";
    const std::string wrong = "num_speculative_tokens must be a whole number above 0, not 0";
    CHECK(finds(list + "vllm serve m \"${ARGS[@]}\"", wrong));
    CHECK(finds("CMD=(vllm serve m --speculative-config " + zero + ")\n\"${CMD[@]}\"", wrong));
    CHECK(finds("ARGS=()\nif [ $N -gt 0 ]; then\n  ARGS+=(--speculative-config " + zero + ")\nelse\n  ARGS=()\nfi\n" +
                    "vllm serve m \"${ARGS[@]}\"",
                wrong));
    CHECK(findings("ARGS=(--speculative-algorithm EAGLE3 --speculative-num-steps 3 --speculative-eagle-topk 1 "
                   "--speculative-num-draft-tokens 4)\npython3 -m sglang.launch_server --model-path m "
                   "--speculative-draft-model-path d \"${ARGS[@]}\"") == "");
    const std::string compose =
        "services:\n  v:\n    image: vllm/vllm-openai:v0.24.0\n    entrypoint:\n    - bash\n    - -c\n    - |\n"
        "      ARGS=()\n      if [ \"$$N\" -gt 0 ]; then ARGS=(--speculative-config "
        "'{\"method\":\"mtp\",\"num_speculative_tokens\":0}'); fi\n      exec vllm serve \"$$@\" \"$${ARGS[@]}\"\n";
    CHECK(finds(compose, wrong));
}

TEST_CASE("a branch that switches drafting off takes no value away") {
    const std::string script =
        "N=3\nif [ \"$MODE\" = off ]; then N=0; fi\ncase \"$MODE\" in off|no) N=0 ;; esac\n"
        "vllm serve m --speculative-config \"{\\\"method\\\":\\\"mtp\\\",\\\"num_speculative_tokens\\\":$N}\"";
    CHECK(findings(script) == "");
    CHECK(words_of("N=3\nN=0\np $N") == Words{"p", "0"});
    CHECK(words_of("if a; then N=3; fi\nN=0\np $N").back() == "0");
}

TEST_CASE("patterns of case are no flags, nor do brackets and semicolons belong to words") {
    const std::string loop =
        "for a in \"$@\"; do\n  case \"$a\" in\n    --spec-type|--spec-draft-model) skip=1; continue ;;\n    --x)\n"
        "      skip=0;;\n    *) break;;\n  esac\ndone\n";
    CHECK(findings(loop + "llama-server -m m.gguf --spec-type draft-mtp --spec-draft-n-max 2\n") == "");
    CHECK(words_of("case $1 in a|b) p -x;; c) q;; esac; r") == Words{"case", "$1", "in", "p", "-x", "q", "esac", "r"});
    CHECK(words_of("(cd x; p '{a}')") == Words{"(cd", "x", "p", "{a}"});
    CHECK(words_of("p -ot (up|down)_exps=CPU") == Words{"p", "-ot", "(up|down)_exps=CPU"});
}

TEST_CASE("defaults nest, and what is no value stays as it is written") {
    CHECK(words_of("p ${A:-${B-x}} ${C:=y} $C ${A[0]:-z}") == Words{"p", "x", "y", "y", "${A[0]:-z}"});
    CHECK(words_of("A=abc\np ${A%c} ${A#a} ${A%%*} ${A/b/d} ${A:+e f} ${B:+g h}") ==
          Words{"p", "ab", "bc", "${A%%*}", "${A/b/d}", "e", "f", "${B:+g h}"});
    CHECK(words_of("M=a/b\nP=\"${P:-$(dirname \"${N%/}\")/${M#a/}}\"\np \"it's $P\"") ==
          Words{"p", "it's $(dirname \"${N%/}\")/b"});
    CHECK(words_of("p \"${A:-it's}\" b") == Words{"p", "it's", "b"});
    CHECK(words_of("A=x\nA+=y\np $A ${") == Words{"p", "xy", "${"});
    CHECK(words_of(std::string(20000, '$') + "{{").size() == 1);
}

TEST_CASE("an engine's name as a flag's value starts no engine") {
    const std::string client = "python3 bench_serving.py --backend vllm --num-prompts 10 &\n";
    const std::string server =
        "python3 -m sglang.launch_server --model-path m --speculative-algorithm EAGEL --speculative-num-steps 3\n";
    CHECK(finds(client + server, "did you mean \"EAGLE\"?"));
    CHECK(finds("pip install vllm\n" + server, "did you mean \"EAGLE\"?"));
    CHECK(problem("patch /usr/lib/python3/dist-packages/vllm --dry-run").find("names no engine") != std::string::npos);
    CHECK(checked("set -x\nvllm --speculative-config '{\"method\":\"mtp\",\"num_speculative_tokens\":1}'").engine.name ==
          EngineName::vllm);
    CHECK(checked("uv run --no-sync vllm serve m --speculative-config '{\"method\":\"mtp\",\"num_speculative_tokens\":1}'")
              .engine.name == EngineName::vllm);
    CHECK(problem("python3 -m atom.entrypoints.openai_server --method mtp --num-speculative-tokens 3\n" + client)
              .find("the text is for ATOM") == 0);
}

TEST_CASE("Compose puts defaults in before a container sees its words") {
    const std::string head = "services:\n  v:\n    image: ${IMAGE:-vllm/vllm-openai:v0.24.0}\n    command:\n";
    const std::string drafts = R"(    - '{"method":"mtp","num_speculative_tokens":${N:-4}}')"
                               "\n";
    const std::string flags = "    - --speculative-config\n" + drafts;
    CHECK(findings(head + flags) == "");
    CHECK(finds(head + "    - --pipeline-parallel-size\n    - \"${PP:-2}\"\n" + flags, "--pipeline-parallel-size is 2"));
    CHECK(
        finds("services:\n  l:\n    image: ghcr.io/ggml-org/llama.cpp:server\n    command: [-m, m.gguf, --spec-type, "
              "\"${SPEC:-draft-mpt}\"]\n",
              "did you mean \"draft-mtp\"?"));
}

TEST_CASE("macros of llama-swap reach the commands of its models") {
    CHECK(
        finds("macros:\n  drafts: --spec-type draft-mpt\nmodels:\n  a:\n    cmd: llama-server -m a.gguf --draft-max 3 "
              "${drafts}\n",
              "did you mean \"draft-mtp\"?"));
}

TEST_CASE("a value that the text leaves open is noted, and the rest is checked") {
    const auto config = [](const std::string& length) {
        return "vllm serve m --speculative-config \"{\\\"method\\\": \\\"eagel3\\\", \\\"model\\\": \\\"d\\\", "
               "\\\"num_speculative_tokens\\\": " +
               length + "}\"";
    };
    for (const std::string length : {"$N", "${MAP[${A}:${B}]}", "$((N + 1))"}) {
        INFO(length);
        CHECK(finds(config(length), "did you mean \"eagle3\"?"));
        CHECK(findings(config(length)).find("num_speculative_tokens") == std::string::npos);
        CHECK(notes(config(length)).find("num_speculative_tokens is not known here (" + length + ")") == 0);
    }
    const std::string printed =
        "C=$(printf '{\"method\":\"mtp\",\"num_speculative_tokens\":%d,\"nosuch\":1}' \"$N\")\n"
        "vllm serve m --speculative-config \"$C\"";
    CHECK(finds(printed, "nosuch is unknown to vLLM"));
    CHECK(findings("N=\"${MAP[a]:-3}\"\n" + config("$N")).find("eagel3") != std::string::npos);
    CHECK(findings("M=\"$(dirname \"$P\")/d\"\nvllm serve m --speculative-config "
                   "\"{\\\"method\\\":\\\"eagle3\\\",\\\"model\\\":\\\"$M\\\",\\\"num_speculative_tokens\\\":$N}\"") == "");
    CHECK(notes("speculative_config:\n  decoding_type: Eagle3\n  speculative_model: d\n  max_draft_len: ${N}\n") ==
          "max_draft_len is not known here (${N}), so it is not checked.\n");
    // Whether a key has a place does not depend on its value.
    CHECK(notes("speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: ${N}\n  nosuch: ${N}\n")
              .find("num_nextn_predict_layers is deprecated") == 0);
    CHECK(finds("speculative_config:\n  decoding_type: MTP\n  num_nextn_predict_layers: ${N}\n  nosuch: ${N}\n",
                "nosuch is unknown to TensorRT-LLM"));
}

TEST_CASE("printf puts its words in") {
    const std::string format = "'{\"method\":\"%s\",\"num_speculative_tokens\":%d}'";
    CHECK(finds("vllm serve m --speculative-config \"$(printf " + format + " mpt 3)\"", "did you mean \"mtp\"?"));
    CHECK(notes("vllm serve m --speculative-config \"$(printf " + format + " mtp)\"") ==
          "num_speculative_tokens is not known here (%d), so it is not checked.\n");
}

TEST_CASE("a word that stands for others may hold the flag that is not seen") {
    CHECK(findings("vllm serve m --port 1 \"${ARGS[@]}\"") == "");
    CHECK(notes("vllm serve m --port 1 \"${ARGS[@]}\"") ==
          "--speculative-config is not seen, and what ${ARGS[@]} holds is not known here.\n");
    CHECK(notes("vllm serve $MODEL --port $PORT").find("Nothing is drafted: --speculative-config") != std::string::npos);
    CHECK(notes("python3 -m sglang.launch_server --model-path $M").find("Nothing is drafted: --speculative-algorithm") !=
          std::string::npos);
}

TEST_CASE("documents that other programs read are no part of the command") {
    const std::string serve = "vllm serve m --speculative-config '{\"method\":\"mtp\",\"num_speculative_tokens\":0}'\n";
    const std::string wrong = "num_speculative_tokens must be a whole number above 0, not 0";
    CHECK(finds("cat <<EOF\nit's starting\nEOF\n" + serve, wrong));
    CHECK(finds("python3 - <<'PY'\nprint(\"it's\", x[\"a\"]) # \"\nPY\n" + serve, wrong));
    CHECK(finds("bash <<EOF\n" + serve + "EOF\n", wrong));
    CHECK(finds("N=$((1<<N))\n" + serve, wrong));
    CHECK(
        finds("python3 - <<'PY'\nfrom vllm import LLM\nLLM(model=\"m\", speculative_config={\"method\": \"mtp\", "
              "\"num_speculative_tokens\": 0})\nPY\n",
              wrong));
    const std::string options =
        "F=options.yml\ncat > $F <<EOF\nspeculative_config:\n    decoding_type: NOSUCH\nEOF\ncat <<EOF >> \"$F\"\n"
        "cuda_graph_config:\n    enable_padding: true\n    batch_sizes: [${LIST%, }]\nEOF\n";
    CHECK(finds(options + "trtllm-serve m --extra_llm_api_options=$F", "decoding_type is \"NOSUCH\""));
}

}  // namespace lint_scripts_test
