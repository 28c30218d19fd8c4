// Does lint find the mistakes that people make in llama.cpp's flags, presets and variables?
#include <catch2/catch.hpp>

#include "lint_findings.h"

namespace lint_llama_cpp_test {

using namespace treeline;
using namespace treeline::engines;
using namespace treeline::testing;

TEST_CASE("llama.cpp's flags") {
    for (const char* gone : {"--draft", "--draft-n", "--draft-max", "--draft-min", "--draft-n-min", "--spec-ngram-size-n",
                             "--spec-ngram-size-m", "--spec-ngram-min-hits"}) {
        INFO(gone);
        CHECK(finds(std::string("llama-server -m a.gguf -md b.gguf --spec-type draft-simple ") + gone + " 8",
                    std::string("removed: ") + gone + " was removed"));
    }
    CHECK(finds("llama-server -m a.gguf -md b.gguf", "-md does not enable speculation"));
    CHECK(finds("llama-server -m a.gguf --model-draft b.gguf --spec-type ngram-simple", "--model-draft does not enable"));
    // Pull requests 26814 and 27005: the file itself says so, of all but EAGLE-3 heads and ordinary models.
    for (const char* file : {"Qwen3.8-27B-DFlash2-Q4_K_M.gguf", "q/dspark-q8_0.gguf", "Qwen3.6-27B-MTP.gguf"}) {
        CHECK(findings(std::string("llama-server -m a.gguf -md ") + file) == "");
        CHECK_THAT(notes(std::string("llama-server -m a.gguf -md ") + file), Catch::Contains("builds since August 2026"));
    }
    CHECK(finds("llama-server -m a.gguf -md eagle3.gguf", "-md does not enable speculation"));
    CHECK(finds("llama-server -m a.gguf -md dflash.gguf --spec-type ngram-simple", "add draft-simple to --spec-type"));
    CHECK(finds("--spec-type draft-simple", "missing: --spec-draft-model is needed by --spec-type draft-simple"));
    CHECK(findings("--spec-type draft-mtp --spec-draft-n-max 2") == "");
    CHECK(findings("llama serve -hf a/b-GGUF:Q4_K_M --spec-type draft-dflash") == "");  // found beside the model
    CHECK(finds("llama serve -hf a/b-GGUF --spec-type draft-simple", "missing: --spec-draft-model"));
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

TEST_CASE("llama.cpp's parser compares whole words") {
    const std::string serve = "llama-server -m a.gguf --spec-type draft-mtp --spec-draft-n-max 2 ";
    CHECK(finds(serve + "--ngl 99", "unknown: --ngl has two dashes: llama.cpp does not start with it; write -ngl or "));
    CHECK(finds(serve + "--ctk q8_0", "write -ctk or --cache-type-k"));
    CHECK(finds(serve + "-n-gpu-layers 99", "unknown: -n-gpu-layers has one dash"));
    CHECK(finds("llama-server -m a.gguf -spec-type draft-mtp", "unknown: -spec-type has one dash"));
    CHECK(finds("llama-server -m a.gguf --spec-type=draft-mtp", "unknown: --spec-type has its value behind \"=\""));
    CHECK(findings(serve + "-ngl 99 -fa on -ctk q8_0 -ctv q8_0 -np 2 --no_mmap") == "");
    CHECK(findings("docker run --gpus=all --name=x ghcr.io/ggml-org/llama.cpp:server " + serve) == "");
    CHECK(findings("[*]\nngl = 99\n[m]\nspec-type = draft-mtp\n") == "");  // a preset takes every name without dashes
}

TEST_CASE("llama.cpp's flash attention needs a value") {
    const std::string serve = "llama-server -m a.gguf --spec-type draft-mtp --spec-draft-n-max 2 ";
    CHECK(finds(serve + "--flash-attn --metrics", "missing: --flash-attn needs a value since build b6325 (August 2025)"));
    CHECK(finds(serve + "-fa", "write -fa on"));
    CHECK(finds(serve + "-fa yes", "value: -fa is yes, but must be on, off or auto"));
    CHECK(finds(serve + "--fit", "missing: --fit needs a value: llama.cpp takes the next word"));
    for (const char* word : {"on", "off", "auto", "1", "0", "-1", "true", "enabled"}) {
        CHECK(findings(serve + "-fa " + word) == "");
    }
    CHECK(notes(serve + "-fa $FA").find("-fa is not known here ($FA)") == 0);
}

TEST_CASE("beellama.cpp is told from llama.cpp") {
    const std::string image = "services:\n  s:\n    image: ghcr.io/someone/beellama.cpp:server-cuda\n    command: ";
    const std::string flags = "-m /m/a.gguf -md /m/b.gguf --spec-type dflash --draft-max 8 --spec-dflash-cross-ctx 1024\n";
    CHECK(findings(image + flags).empty());
    CHECK(checked(image + flags).engine.name == EngineName::llama_cpp);
    CHECK(notes(image + flags).find("beellama.cpp is a fork with flags of its own") == 0);
    CHECK(notes("/opt/beellama.cpp/build/bin/llama-server " + flags).find("beellama.cpp is a fork") == 0);
    CHECK(finds("llama-server -m a.gguf -md b.gguf --spec-dflash-cross-ctx 1024", "is a flag of the fork beellama.cpp"));
    CHECK(finds("llama-server -m /m/beellama-q4.gguf -md b.gguf", "-md does not enable speculation"));
}

TEST_CASE("llama.cpp's slots are at most the sequences of a context") {
    CHECK(findings("llama-server -m a.gguf --spec-type draft-mtp --parallel 256") == "");
    CHECK(finds("llama-server -m a.gguf --spec-type draft-mtp --parallel 257", "value: --parallel is 257"));
    CHECK(finds("llama-server -m a.gguf --spec-type draft-mtp -np 512", "at most 256 sequences"));
}

TEST_CASE("llama.cpp's simulated acceptance: a rate that does not increase for each draft, or a length") {
    const std::string drafts = "--spec-type draft-mtp --spec-draft-n-max 2 ";
    CHECK(findings(drafts + "--spec-synth-rates 0.8,0.6") == "");
    CHECK(findings(drafts + "--spec-synth-len 2.1") == "");
    CHECK(findings("--spec-type draft-mtp --spec-synth-rates 0.8,0.6,0.4") == "");
    CHECK(finds(drafts + "--spec-synth-rates 0.8", "must hold 2 rates"));
    CHECK(finds(drafts + "--spec-synth-rates 0.6,0.8", "must not increase"));
    CHECK(finds(drafts + "--spec-synth-rates 0.8,x", "must hold 2 rates"));
    CHECK(finds(drafts + "--spec-synth-rates 1.2,0.8", "not a rate between 0 and 1"));
    CHECK(finds(drafts + "--spec-synth-rates 0.8,0.6 --spec-synth-len 2", "excludes --spec-synth-len"));
}

TEST_CASE("ik_llama.cpp is told from llama.cpp") {
    CHECK(finds("llama-server -m a.gguf -md b.gguf -fmoe --draft-max 4", "-fmoe is a flag of the fork ik_llama.cpp"));
    const std::string started = "/opt/ik_llama.cpp/build/bin/llama-server -m a.gguf -md b.gguf --draft-max 4";
    CHECK(notes(started).find("ik_llama.cpp is a fork with flags of its own") == 0);
    CHECK(findings(started) == "");
    CHECK(finds("/opt/ik_llama.cpp/build/bin/llama-server -m a.gguf -mtp", "-mtp ends in an error in ik_llama.cpp"));
    CHECK_FALSE(finds("/opt/ik_llama.cpp/build/bin/llama-server -m a.gguf --spec-type mtp:n_max=3", "-mtp ends"));
    CHECK(finds("llama-server -m a.gguf --spec-type mtp:n_max=3,p_min=0.0", "is of the form that the fork ik_llama.cpp takes"));
    CHECK(finds("llama-server -m a.gguf --spec-stage mtp:n_max=3", "--spec-stage is a flag of the fork"));
    for (const char* split : {"-sm graph", "--split-mode graph", "--split-mode=attn"}) {
        const std::string serve = "llama-server -m a.gguf -md b.gguf --draft-max 3 " + std::string(split);
        CHECK(finds(serve, "which only the fork ik_llama.cpp takes"));
        CHECK(!finds(serve, "was removed"));
    }
    CHECK(!finds("llama-server -m a.gguf -md b.gguf --spec-type draft-simple -sm row", "fork"));
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

TEST_CASE("presets of llama.cpp's router") {
    CHECK(findings("spec-type = draft-mtp,ngram-mod\nspec-draft-n-max = 2\n").empty());
    CHECK(checked("; a comment\n[*]\nngl = 99\n[some-model]\nspec-type = draft-mtp\ndraft-max = 3\n").engine.name ==
          EngineName::llama_cpp);
    CHECK(finds("[*]\nngl = 99\n[some-model]\nspec-type = draft-mtp\ndraft-max = 3\n", "--draft-max was removed"));
    CHECK(checked("[a]\nspec-type = draft-mtp\n[b]\nspec-type = ngram-mod\n").form.find("[a]") != std::string::npos);
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

TEST_CASE("a quantised V cache needs flash attention") {
    const std::string drafts = "llama-server -m a.gguf --spec-type draft-simple -md b.gguf ";
    CHECK(finds(drafts + "-ctv q8_0 -fa off", "contradiction: -ctv is q8_0"));
    CHECK(finds(drafts + "--cache-type-v q4_1 --flash-attn off", "contradiction: --cache-type-v is q4_1"));
    CHECK(findings(drafts + "-ctv q8_0 -fa on") == "");
    CHECK(findings(drafts + "-ctv q8_0") == "");
    CHECK(findings(drafts + "-ctk q8_0 -ctv f16 -fa off") == "");
}

TEST_CASE("numbers of speculation that llama.cpp does not take") {
    const std::string serve = "llama-server -m a.gguf -md b.gguf --spec-type draft-simple ";
    const std::string length = "value: --spec-draft-n-max must be a whole number of at least 0, not ";
    CHECK(findings(serve + "--spec-draft-n-max -3") == length + "-3.\n");
    CHECK(findings(serve + "--spec-draft-n-max abc") == length + "abc.\n");
    CHECK(findings(serve + "--spec-draft-n-max") ==
          "missing: --spec-draft-n-max needs a value, a whole number of at least 0.\n");
    CHECK(finds(serve + "--spec-draft-n-min -1", "value: --spec-draft-n-min must be a whole number of at least 0, not -1"));
    CHECK(findings(serve + "--spec-draft-p-min 7.5") ==
          "value: --spec-draft-p-min must be a number between 0 and 1, not 7.5.\n");
    CHECK(findings(serve + "--spec-draft-n-max 3 --spec-draft-n-min 0 --spec-draft-p-min 0.75") == "");
    CHECK(findings(serve + "--spec-draft-n-max $N") == "");
    CHECK(finds("llama-server --spec-type ngram-simple --spec-ngram-simple-min-hits 0",
                "value: --spec-ngram-simple-min-hits must be a whole number above 0, not 0"));
}

}  // namespace lint_llama_cpp_test
