// Does every description of the catalogue load, agree with what its publisher counts, and pair with the drafters it is used
// with?
#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <string>

#include "models/catalogue.h"
#include "sim/operations.h"
#include "source_folder.h"

namespace model_catalogue_test {

using namespace treeline;
using namespace treeline::models;

namespace {
const std::filesystem::path catalogue = treeline::testing::source_folder() / "models";

sim::Model load(const std::string& name) { return load_model(catalogue, name).value; }
/// What is said of a name that cannot be loaded; empty where it can.
std::string refusal(const std::string& name) {
    try {
        load_model(catalogue, name);
    } catch (const text::InputError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("every description loads, is valid and states its source") {
    const std::vector<std::string> names = model_names(catalogue);
    REQUIRE(names.size() >= 40);
    for (const std::string& name : names) {
        INFO(name);
        const json::Described<sim::Model> described = load_model(catalogue, name);
        CHECK(described.value.name == name);
        CHECK(problems_of(described.value).empty());
        REQUIRE_FALSE(described.provenance.empty());
        CHECK(described.provenance.front().source == described.value.source);
    }
}

TEST_CASE("most models know their repository, and whether their checkpoint has MTP modules") {
    int named = 0;
    for (const std::string& name : model_names(catalogue)) {
        const sim::Model model = load(name);
        INFO(name);
        const std::size_t slash = model.repository.find('/');
        CHECK((model.repository.empty() || (slash != std::string::npos && slash > 0 && slash + 1 < model.repository.size())));
        named += model.repository.empty() ? 0 : 1;
        for (const std::string& note : model.notes) {  // the number of layers says it, and drafters of the kind "mtp" use them
            CHECK((!model.mtp_layers || note.find("multi-token-prediction") == std::string::npos));
        }
    }
    CHECK(named > 130);
    // config.json of each, num_nextn_predict_layers or mtp_num_hidden_layers.
    CHECK(load("deepseek-v3").mtp_layers == 1);
    CHECK(load("qwen3.5-27b").mtp_layers == 1);
    CHECK(load("qwen3-8b").mtp_layers == 0);
    CHECK(load("qwen3-8b").repository == "Qwen/Qwen3-8B");
}

TEST_CASE("parameter counts equal the published totals to the last digit") {
    int checked = 0;
    for (const std::string& name : model_names(catalogue)) {
        const sim::Model model = load(name);
        INFO(name);
        if (model.published_parameters) {
            CHECK(parameter_count(model) == *model.published_parameters);
            ++checked;
        }
        if (model.published_body_parameters) {
            CHECK(body_parameters(model) == *model.published_body_parameters);
            ++checked;
        }
    }
    CHECK(checked >= 30);
}

TEST_CASE("published totals stand in the files that the test above reads") {
    // SPIRe body counts: its model shapes (arXiv 2504.06419); all others, Mamba-2 included: safetensors totals of the
    // checkpoints.
    CHECK(load("mamba2-130m").published_parameters == 128'989'632);
    CHECK(load("mamba2-370m").published_parameters == 368'346'624);
    CHECK(load("mamba2-780m").published_parameters == 780'161'280);
    CHECK(load("mamba2-2.7b").published_parameters == 2'702'599'680);
    CHECK(load("spire-target").published_body_parameters == 67'117'056);
    CHECK(load("spire-vanilla-draft").published_body_parameters == 8'390'656);
    CHECK(load("spire-draft").published_body_parameters == 16'779'264);
    CHECK(load("llama-3-8b").published_parameters == 8'030'261'248);
    CHECK(load("deepseek-v3").published_parameters == 671'026'419'200);
    CHECK(load("zamba2-7b").published_parameters == 7'356'749'648);
    CHECK(load("qwen3-32b").published_parameters == 32'762'123'264);
    CHECK(load("qwen3-235b-a22b").published_parameters == 235'093'634'560);
    CHECK(load("llama-3.1-405b").published_parameters == 405'853'388'800);
    CHECK(load("llama-3.3-70b").published_parameters == 70'553'706'496);
}

TEST_CASE("models known by rounded totals count what is published of them") {
    // gpt-oss model card (arXiv 2508.10925), table 1: 20.91B and 116.83B. DeepSeek-R1 was trained from DeepSeek-V3's base
    // model.
    CHECK(std::round(static_cast<double>(parameter_count(load("gpt-oss-20b"))) / 1e7) == 2091.0);
    CHECK(std::round(static_cast<double>(parameter_count(load("gpt-oss-120b"))) / 1e7) == 11683.0);
    CHECK(parameter_count(load("deepseek-r1")) == parameter_count(load("deepseek-v3")));
    // Model cards: 1.6T with 49B active, 284B with 13B active, 120B with 12B active, and names of the others.
    const auto billions = [](const char* name) { return static_cast<double>(parameter_count(load(name))) / 1e9; };
    const auto active = [](const char* name) {
        const sim::Model model = load(name);
        return static_cast<double>(parameter_count(model) - sim::body_parameters(model) + sim::active_body_parameters(model)) /
               1e9;
    };
    CHECK(billions("deepseek-v4-pro") == Approx(1600.0).epsilon(0.02));
    CHECK(active("deepseek-v4-pro") == Approx(49.0).epsilon(0.03));
    CHECK(billions("deepseek-v4-flash") == Approx(284.0).epsilon(0.002));
    CHECK(active("deepseek-v4-flash") == Approx(13.0).epsilon(0.07));
    CHECK(billions("nemotron-3-super-120b-a12b") == Approx(120.0).epsilon(0.01));
    CHECK(active("nemotron-3-super-120b-a12b") == Approx(12.0).epsilon(0.08));
    CHECK(billions("llama-4-maverick") == Approx(400.0).epsilon(0.01));
    CHECK(active("llama-4-maverick") == Approx(17.0).epsilon(0.02));
    CHECK(billions("kimi-k3") == Approx(2800.0).epsilon(0.01));
    CHECK(billions("qwen3.5-9b") == Approx(9.0).epsilon(0.01));
    CHECK(billions("qwen3.5-4b") == Approx(4.2).epsilon(0.01));
    // Tensors of the checkpoint's one file, 23.92 GB of 16 bits, hold vision and audio parts as well.
    CHECK(billions("gemma-4-12b") == Approx(11.9).epsilon(0.015));
    CHECK(std::round(10.0 * billions("gemma-4-31b")) == 307.0);
    CHECK(std::round(10.0 * billions("gemma-4-26b-a4b")) == 252.0);
    CHECK(active("gemma-4-26b-a4b") == Approx(3.8).epsilon(0.01));
    CHECK(billions("glm-4.5-air") == Approx(106.0).epsilon(0.01));
    CHECK(active("glm-4.5-air") == Approx(12.0).epsilon(0.13));
    // Language models of 3.88B and 11.77B with tables of 262,144 rows; the tables have 64 more.
    CHECK(std::round(100.0 * billions("gemma-3-4b")) == 388.0);
    CHECK(std::round(100.0 * billions("gemma-3-12b")) == 1177.0);
    CHECK(std::round(100.0 * billions("minicpm3-4b")) == 407.0);
    CHECK(std::round(1000.0 * billions("vicuna-68m")) == 68.0);
}

TEST_CASE("SPIRe counts Llama-3 bodies without embeddings") {
    // layers·(2d + (h_q + 2h_kv)·d·d_h + h_q·d_h·d + 3·d·d_ff): 32·(8192 + 48·4096·128 + 32·128·4096 + 3·4096·14336) =
    // 6,979,584,000; 80·(16384 + 80·8192·128 + 64·128·8192 + 3·8192·28672) = 68,452,352,000.
    CHECK(body_parameters(load("llama-3-8b")) == 6'979'584'000);
    CHECK(body_parameters(load("llama-3-70b")) == 68'452'352'000);
}

TEST_CASE("shared layers are stored once a copy") {
    const sim::Model zamba = load("zamba2-7b");
    std::size_t shared = 0;
    while (zamba.kinds.at(shared).name != "shared") {
        ++shared;
    }
    CHECK(occurrences(zamba, shared) == 13);
    CHECK(zamba.kinds[shared].distinct_copies == 2);
}

TEST_CASE("usual target and drafter pairs share a vocabulary") {
    const std::vector<std::pair<std::string, std::string>> pairs = {{"llama-3-70b", "llama-3.1-8b"},
                                                                    {"llama-3-70b", "llama-3.2-1b"},
                                                                    {"llama-3.1-8b", "llama-3.2-1b"},
                                                                    {"mamba2-2.7b", "mamba2-130m"},
                                                                    {"pythia-6.9b", "mamba-130m"},
                                                                    {"pythia-6.9b", "pythia-70m"},
                                                                    {"mamba2-2.7b", "pythia-160m"},
                                                                    {"mistral-7b", "mistral-160m"},
                                                                    {"qwen3-30b-a3b", "qwen3-0.6b"},
                                                                    {"qwen3-8b", "qwen3-0.6b"},
                                                                    {"qwen3-32b", "qwen3-0.6b"},
                                                                    {"gpt-oss-120b", "gpt-oss-20b"},
                                                                    {"llama-3.3-70b", "llama-3.2-1b"},
                                                                    {"spire-target", "spire-draft"},
                                                                    {"llama3.1-mamba2-8b-distill", "mamba2-llama3.1-draft"},
                                                                    {"llama-3-70b", "llama-3-70b-spire-draft"}};
    for (const auto& [target, drafter] : pairs) {
        INFO(target << " with " << drafter);
        CHECK(load(target).vocabulary == load(drafter).vocabulary);
    }
    CHECK(load("mistral-7b").vocabulary != load("tinyllama-1.1b").vocabulary);  // both have 32,000 tokens, but other ones
}

TEST_CASE("recurrent state is where it should be") {
    CHECK(sim::has_recurrent_state(load("mamba-130m")));
    CHECK(sim::has_recurrent_state(load("falcon-h1-7b")));
    CHECK(sim::has_recurrent_state(load("qwen3.5-27b")));
    CHECK_FALSE(sim::has_recurrent_state(load("deepseek-v3")));
    CHECK_FALSE(sim::has_recurrent_state(load("mistral-7b")));
}

TEST_CASE("a misspelt name is answered with the nearest ones and the command that lists all") {
    try {
        load_model(catalogue, "lama-3-8b");
        FAIL("no error");
    } catch (const text::InputError& error) {
        const std::string message = error.what();
        CHECK(message.find("did you mean \"llama-3-8b\"") != std::string::npos);
        CHECK(message.find("`treeline models` lists all") != std::string::npos);
    }
}

TEST_CASE("a hint never names another version") {
    CHECK(refusal("deepseek-v4.1-flash").find("did you mean") == std::string::npos);
    CHECK(refusal("gemma-4-13b").find("gemma-2") == std::string::npos);
    CHECK(refusal("gemma-4-13b").find("gemma-4-12b") != std::string::npos);
    CHECK(refusal("mimo-v2.6-flash").find("did you mean") == std::string::npos);
    CHECK(refusal("qwen3-9b").find("\"qwen3-8b\"") != std::string::npos);
}

TEST_CASE("models whose parameters are published in round numbers") {
    // Gemma's as llama-bench prints them and fairseq2 lists them; Muse Glimmer's less its encoder of 1.8 billion.
    for (const auto& [name, billions] : {std::pair{"gemma-4-e2b", 4.65},
                                         {"gemma-4-e4b", 7.5},
                                         {"longcat-flash-lite", 68.5},
                                         {"muse-glimmer-30b", 29.6 - 1.8},
                                         {"mimo-v2.5", 310.0 - 0.73 - 0.26}}) {
        INFO(name);
        CHECK(static_cast<double>(parameter_count(load(name))) == Approx(billions * 1e9).epsilon(0.005));
    }
}

TEST_CASE("a hint shares the family's name") {
    // "mimo" is no slip of the pen for "kimi", nor "jamba2-mini" for "minimax"; of a family that is there nothing else is
    // named.
    for (const auto& [name, other] : {std::pair{"mimo-v2.6", "kimi"},
                                      {"jamba2-mini", "minimax"},
                                      {"jamba2-mini", "mamba"},
                                      {"lingo-2", "mistral"},
                                      {"quokka-7b", "qwen"}}) {
        INFO(name);
        CHECK(refusal(name).find("is not in the catalogue") != std::string::npos);
        CHECK(refusal(name).find(other) == std::string::npos);
    }
    CHECK(refusal("qwne3-8b").find("\"qwen3-8b\"") != std::string::npos);
    CHECK(refusal("llama3.1-9b").find("\"llama-3.1-8b\"") != std::string::npos);
    CHECK(refusal("hermes-3-llama-3.1-8b").find("\"llama-3.1-8b\"") == std::string::npos);  // of another version
    CHECK(refusal("deepseekv3.2-base2").find("\"deepseek-v3.2\"") != std::string::npos);
}

TEST_CASE("other names of a model, and those of Hugging Face") {
    for (const std::string& name : model_names(catalogue / "aliases")) {
        INFO(name);
        const json::Described<sim::Model> described = load_model(catalogue, name);
        CHECK(described.value.name == name);
        CHECK(described.value.notes.front().starts_with("Described as "));
    }
    CHECK(load("Qwen/Qwen3.8-27B").name == "qwen3.8-27b");
    CHECK(parameter_count(load("qwen3.8-27b")) == parameter_count(load("qwen3.5-27b")));
    CHECK(load("meta-llama/Llama-3.1-8B-Instruct").name == "llama-3.1-8b");
    CHECK(load("meta-llama/Meta-Llama-3.1-8B-Instruct").name == "llama-3.1-8b");
    CHECK(load("Qwen3-8B").name == "qwen3-8b");
    CHECK(load("Qwen/Qwen3-30B-A3B-Instruct-2507").name == "qwen3-30b-a3b");
    // A later release of the same layers is trained for more positions than the one that is described.
    CHECK(load("qwen3-30b-a3b").max_context == 40'960);
    CHECK(load("Qwen/Qwen3-30B-A3B").max_context == 40'960);
    CHECK_FALSE(load("Qwen/Qwen3-30B-A3B-Instruct-2507").max_context);
    CHECK(load("swiss-ai/Apertus-70B-Instruct-2509").name == "apertus-70b");
    CHECK(load("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16").name == "nemotron-3-nano-30b-a3b");
    CHECK(load("deepseek-ai/DeepSeek-R1-0528").name == "deepseek-r1");
    CHECK(parameter_count(load("moonshotai/Kimi-K2.5")) == parameter_count(load("kimi-k2.6")));
    CHECK_THROWS_WITH(load("Qwen/Qwen3.8-28B"),
                      Catch::Contains("\"qwen3.8-28b\" is not in the catalogue; did you mean \"qwen3.8-27b\""));
    CHECK_THROWS_WITH(load("RedHatAI/Llama-3.3-70B-Instruct-FP8-dynamic"),
                      Catch::Contains("give the model, \"llama-3.3-70b\"") && Catch::Contains("such as \"fp8\""));
    CHECK_THROWS_WITH(load("unsloth/Qwen3.8-27B-GGUF"), Catch::Contains("give the model, \"qwen3.8-27b\""));
    CHECK_THROWS_WITH(load("unsloth/Qwen3-30B-A3B-GGUF:Q4_K_M"),
                      Catch::Contains("give the model, \"qwen3-30b-a3b\"") && Catch::Contains("such as \"q4_k_m\""));
    CHECK_THROWS_WITH(load("nvidia/Llama-3.3-70B-Instruct-NVFP4-v2"), Catch::Contains("give the model, \"llama-3.3-70b\""));
    CHECK_THROWS_WITH(load("./Qwen/Qwen3.8-27B"), Catch::Contains("cannot be opened"));
    CHECK_THROWS_WITH(load("Qwen3-8B-Q4_K_M"), Catch::Contains("give the model, \"qwen3-8b\""));
}

TEST_CASE("each model is found by all its names: its own, and the repository that it prints") {
    const std::vector<std::string> names = all_model_names(catalogue);
    CHECK(std::is_sorted(names.begin(), names.end()));
    int named = 0;
    for (const std::string& name : names) {
        INFO(name);
        const sim::Model model = load(name);
        CHECK(model.name == name);
        if (!model.repository.empty()) {
            const sim::Model found = load(model.repository);
            CHECK(parameter_count(found) == parameter_count(model));
            CHECK(found.repository == model.repository);
            CHECK(found.max_context == model.max_context);
            CHECK(found.stored_as == model.stored_as);
            ++named;
        }
    }
    CHECK(named > 195);
    CHECK(load("mistralai/mistral-large-3-675b-instruct-2512").name == "mistral-large-3");
    CHECK(load("Qwen/Qwen3.6-27B").name == "qwen3.6-27b");
    CHECK(load("Qwen/Qwen3-30B-A3B-Instruct-2507").stored_as.empty());  // those of another release
}

// 810 GB of the FP8 checkpoint are what vLLM's recipe asks of the devices; 675e9 parameters of a byte are most of them.
TEST_CASE("checkpoints are described in the format that they are published in") {
    for (const char* name :
         {"mistral-large-3", "ministral-3-14b", "mistral-small-4-119b", "mimo-v2-flash", "deepseek-v3.1", "minimax-m2.7"}) {
        INFO(name);
        CHECK(load(name).precision.weights.format == sim::NumberFormat::fp8);
    }
    CHECK(sim::stored_weights(load("mistral-large-3"), load("mistral-large-3").precision, 1.0).value() < 700e9);
}

// indexer_types of its config.json: "full" in the first three layers and in every fourth from the seventh on.
TEST_CASE("of GLM-5.2's indexers every fourth selects, of those of GLM-5 each does") {
    const auto selecting = [&](const char* name) {
        const sim::Model model = load(name);
        REQUIRE(model.order.size() == 78);
        std::vector<std::size_t> layers;
        for (std::size_t i = 0; i < model.order.size(); ++i) {
            for (const sim::Block& block : model.kinds[model.order[i]].blocks) {
                const auto* latent = std::get_if<sim::LatentAttention>(&block.kind);
                if (latent != nullptr && latent->indexer) {
                    CHECK(latent->indexer->top_k == 2048.0);
                    if (latent->indexer->heads > 0) {
                        layers.push_back(i);
                    }
                }
            }
        }
        return layers;
    };
    CHECK(selecting("glm-5").size() == 78);
    const std::vector<std::size_t> layers = selecting("glm-5.2");
    REQUIRE(layers.size() == 21);
    CHECK(layers[2] == 2);
    CHECK(layers[3] == 6);
    CHECK(layers.back() == 74);
}

TEST_CASE("names of files say the model and its format") {
    using Pair = std::pair<std::string, std::string>;
    CHECK(model_and_format("Qwen3-8B-Q4_K_M.gguf") == Pair("qwen3-8b", "q4_k_m"));
    CHECK(model_and_format("Qwen3-8B-UD-Q2_K_XL-00001-of-00006.gguf") == Pair("qwen3-8b", "ud-q2_k_xl"));
    CHECK(model_and_format("gemma-3-27b-it.i1-IQ3_XXS.gguf") == Pair("gemma-3-27b", "iq3_xxs"));
    CHECK(model_and_format("gpt-oss-120b-mxfp4-00001-of-00003.gguf") == Pair("gpt-oss-120b", "mxfp4"));
    CHECK(model_and_format("Qwen3.6-27B-MTP-Q8_0.gguf") == Pair("qwen3.6-27b", "q8_0"));
    CHECK(model_and_format("unsloth/Qwen3.6-27B-MTP-GGUF:UD-Q4_K_XL") == Pair("qwen3.6-27b", "ud-q4_k_xl"));
    CHECK(model_and_format("Qwen3-8B.gguf") == Pair("qwen3-8b", ""));
    CHECK(model_and_format("Q4_K_M.gguf").second.empty());
    CHECK(model_and_format("llama-3.1-8b") == Pair("llama-3.1-8b", ""));
}

TEST_CASE("a model is described whatever format its name adds") {
    CHECK(load_model_of_any_format(catalogue, "Qwen/Qwen3-8B-FP8").value.name == "qwen3-8b");
    CHECK(load_model_of_any_format(catalogue, "unsloth/Qwen3-8B-GGUF:UD-Q4_K_XL").value.name == "qwen3-8b");
    CHECK(load_model_of_any_format(catalogue, "qwen3-8b").value.name == "qwen3-8b");
    CHECK_THROWS_AS(load_model_of_any_format(catalogue, "no-such-model-fp8"), text::InputError);
}

}  // namespace model_catalogue_test
