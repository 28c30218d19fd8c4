// Does lint find the flags in what people paste around them: scripts, container files, charts, units, Python?
#include <catch2/catch.hpp>

#include "lint_findings.h"

namespace lint_files_test {

using namespace treeline;
using namespace treeline::engines;
using namespace treeline::testing;

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

TEST_CASE("TOML: tables of launch arguments, commands and lists of flags") {
    const std::string serve = "[serve]\nmodel = \"m\"\nmax-num-seqs = 64\n\n";
    CHECK(finds(serve + "[serve.speculative_config]\nmethod = \"eagle3\"\nmodel = \"d\"\nnum_speculative_token = 3\n",
                "num_speculative_token is unknown to vLLM"));
    CHECK(findings(serve + "[serve.speculative_config]\nmethod = \"eagle3\"\nmodel = \"d\"\nnum_speculative_tokens = 3\n") ==
          "");
    CHECK(
        finds("[serve]\nbackend = \"sglang\"\n[serve.args]\nmodel-path = \"m\"\nspeculative-algorithm = "
              "\"EAGLE3\"\nspeculative-draft-model-path = \"d\"\nspeculative-num-steps = 5\nspeculative-eagle-topk = "
              "1\nspeculative-num-draft-tokens = 64\n",
              "SGLang sets it to steps + 1 = 6"));
    CHECK(finds("[[models]]\nname = \"q\"\ncmd = \"llama-server -m q.gguf --spec-type draft-mtp --draft-n 3\"\n",
                "--draft-n was removed"));
    CHECK(finds("[vllm]\nargs = [\"--model\", \"m\", \"--speculative-config\", '{\"method\": \"ngram\"}']\n",
                "num_speculative_tokens"));
    CHECK(finds("[llama]\nmodel = \"m.gguf\"\n\"--spec-type\" = \"draft-simple\"\n", "--spec-draft-model is needed"));
    CHECK(problem("[serve]\nmodel = m\n").find("is not TOML at line 2, column 9: strings stand in quotes") !=
          std::string::npos);
    // A preset of llama.cpp's router has no quotes.
    CHECK(checked("[m]\nmodel = /m.gguf\nspec-type = draft-mtp\nspec-draft-n-max = 4\n").form == "a preset");
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
    CHECK(notes("model: m\nspeculative-config: '{\"method\":\"qwen3_next_mtp\",\"num_speculative_tokens\":2}'\n")
              .find("method is qwen3_next_mtp") == 0);
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
    // Nomad's HCL has such lists, too, with quotes escaped.
    CHECK(
        finds("config {\n  image = \"vllm/vllm-openai:v0.24.0\"\n  args = [\"--model\", \"m\", \"--speculative-config\", "
              "\"{\\\"method\\\":\\\"ngrm\\\",\\\"num_speculative_tokens\\\":4}\"]\n}\n",
              "did you mean \"ngram\"?"));
}

TEST_CASE("flags in a variable are split at blanks, and a text that a shell is to run is split again") {
    CHECK(split_command_line("A='--x 1' p $A \"$A\" b=$A").words ==
          std::vector<std::string>{"p", "--x", "1", "--x 1", "b=--x 1"});
    CHECK(split_command_line("A=1 eval \"p '{a b}'\" c").words == std::vector<std::string>{"p", "{a b}", "c"});
    CHECK(split_command_line("exec bash -lc 'p -c' d").words == std::vector<std::string>{"p", "-c"});
    const std::string method = R"('{\"method\": \"eagel3\", \"model\": \"d\", \"num_speculative_tokens\": 3}')";
    CHECK(
        finds("CMD=\"vllm serve m --speculative-config " + method + "\"\necho $CMD\neval $CMD\n", "did you mean \"eagle3\"?"));
    CHECK(
        finds("command=\"\"\"\npython -m sglang.launch_server --model-path m \\\n  --speculative-algorithm EAGEL \\\n\"\"\"\n"
              "eval $command\n",
              "did you mean \"EAGLE\"?"));
    CHECK(
        finds("if [ $MTP ]; then\n  SPEC='--speculative-algorithm EAGLE --speculative-num-steps 3'\nfi\n"
              "python3 -m sglang.launch_server --model-path m $SPEC\n",
              "--speculative-num-steps belongs with"));
}

TEST_CASE("a list of flags in Python, options of SGLang in JSON, TGI's image") {
    const std::string list =
        "MTP = [\n    \"--speculative-algorithm=EAGLE\",\n    f\"--speculative-draft-model-path={DRAFT}\",\n"
        "    \"--speculative-num-steps=3\",\n    \"--speculative-eagle-topk=1\",\n    "
        "\"--speculative-num-draft-tokens=9\",\n]\n";
    CHECK(checked(list).form == "a call or list in Python");
    CHECK(finds(list, "--speculative-num-draft-tokens is 9"));
    CHECK(finds(R"({"model_path": "m", "speculative_algorithm": "EAGEL"})", "did you mean \"EAGLE\"?"));
    CHECK(problem("docker run -e SPECULATE=3 ghcr.io/huggingface/text-generation-inference:3.3 --model-id m")
              .find("the text is for TGI") != std::string::npos);
    CHECK(problem("model:\n  model_name: m\ndraft_model:\n  draft_model_name: d\n").find("the text is for TabbyAPI") == 0);
    CHECK(problem("qwen:\n  cmd: docker run --rm tabbyapi-qwen38:1.4.2\n").find("the text is for TabbyAPI") == 0);
    CHECK(problem("mtplx start --model /models/Qwen3.6-27B-MTPLX --port 1234").find("the text is for MTPLX") == 0);
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

TEST_CASE("files in which a drafter alone, a short key, or nothing drafts") {
    CHECK(finds("models:\n  a:\n    cmd: /app/llama-server -m a.gguf -md b.gguf\n", "-md does not enable speculation"));
    CHECK(finds("services:\n  l:\n    image: ghcr.io/ggml-org/llama.cpp:server\n    command: -m a.gguf --model-draft b.gguf\n",
                "--model-draft does not enable speculation"));
    CHECK(finds("server:\n  model-path: m\n  speculative-algo: EAGEL\n", "did you mean \"EAGLE\"?"));
    const std::string idle = "services:\n  v:\n    image: vllm/vllm-openai:v0.24.0\n    command: [--model, m]\n";
    CHECK(findings(idle).empty());
    CHECK(notes(idle).find("Nothing in this file drafts: it starts vllm/vllm-openai:v0.24.0") == 0);
}

TEST_CASE("where servers for prefill and for decoding are apart, the latter are checked") {
    const std::string drafts =
        "    speculative-algorithm: EAGLE\n    speculative-num-steps: 2\n    speculative-eagle-topk: 1\n"
        "    speculative-num-draft-tokens: 3\n";
    const std::string eager = "    disable-cuda-graph: true\n";
    CHECK(findings("roles:\n  prefill:\n" + drafts + eager + "  decode:\n" + drafts) == "");
    CHECK(finds("roles:\n  prefill:\n" + drafts + "  decode:\n" + drafts + eager, "downgrade: --disable-cuda-graph"));
}

}  // namespace lint_files_test
