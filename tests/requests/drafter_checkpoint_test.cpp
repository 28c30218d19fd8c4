// The config.json of a drafter's checkpoint as a drafter: what it says, what it leaves open, and for which target it is none.
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "json_input.h"
#include "requests/setup_reader.h"
#include "setups.h"

namespace drafter_checkpoint_test {

using namespace treeline;
using namespace treeline::requests;
using treeline::testing::Input;

namespace {

sweeps::DrafterChoice read(Input& input) { return read_drafter(input.root.object("d"), input.descriptions); }

}  // namespace

TEST_CASE("a drafter's config.json says nothing of its acceptance") {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "treeline-setup-reader-eagle3.json";
    std::ofstream(file) << R"({"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "num_hidden_layers": 1,
        "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8,
        "vocab_size": 128256, "draft_vocab_size": 32000})";
    const std::string model = R"("kind": "model", "model": ")" + file.string() + "\"";
    Input silent("{\"d\": {" + model + "}}");
    static_cast<void>(read(silent));
    CHECK(silent.problems().find("in: d.acceptance: is missing: the drafter's config.json says nothing of it") == 0);
    CHECK(silent.problems().find("--drafter eagle3") != std::string::npos);
    Input stated("{\"d\": {" + model + R"(, "acceptance": {"geometric": 0.8}}})");
    CHECK(std::get<sim::OneLayerDrafter>(read(stated).drafter).kind == sim::OneLayerKind::eagle3);
    CHECK(stated.problems().empty());
    // It was trained on states of width 4096.
    for (const auto& [name, problem] : {std::pair{"llama-3.1-8b", ""}, {"llama-3.2-1b", "takes states of width 4096"}}) {
        Input of_target("{\"d\": {" + model + R"(, "acceptance": {"geometric": 0.8}}})");
        const sim::Model target = treeline::testing::model(name);
        DrafterUse use;
        use.target = &target;
        static_cast<void>(read_drafter(of_target.root.object("d"), of_target.descriptions, use));
        CHECK((of_target.problems().empty() == std::string(problem).empty()));
        CHECK(of_target.problems().find(problem) != std::string::npos);
    }
    std::filesystem::remove(file);
}

TEST_CASE("a block drafter's config.json says its Markov head, and for what width and vocabulary it drafts") {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "treeline-setup-reader-domino.json";
    std::ofstream(file) << R"({"architectures": ["DominoDraftModel"], "num_hidden_layers": 5, "hidden_size": 4096,
        "intermediate_size": 12288, "vocab_size": 151936, "emb_dim": 256, "block_size": 16,
        "dflash_config": {"target_layer_ids": [1, 9, 17, 25, 33], "gru_hidden_dim": 1024}})";
    const std::string text =
        R"({"d": {"kind": "model", "model": ")" + file.string() + R"(", "acceptance": {"geometric": 0.8}}})";
    for (const auto& [name, problem] : {std::pair{"qwen3-8b", ""},
                                        {"qwen3-32b", "takes states of width 4096"},
                                        {"llama-3.1-8b", "drafts tokens of a vocabulary of 151936"}}) {
        INFO(name);
        Input input(text);
        const sim::Model target = treeline::testing::model(name);
        DrafterUse use;
        use.target = &target;
        const sim::Drafter found = read_drafter(input.root.object("d"), input.descriptions, use).drafter;
        CHECK((input.problems().empty() == std::string(problem).empty()));
        CHECK(input.problems().find(problem) != std::string::npos);
        CHECK(std::get<sim::ParallelDrafter>(found).markov_rank == 256);
        CHECK(std::get<sim::ParallelDrafter>(found).gru_width == 1024);
        CHECK(std::get<sim::ParallelDrafter>(found).block == 15);
    }
    std::filesystem::remove(file);
    Input dspark(R"({"d": {"kind": "dspark", "markov_rank": 64, "acceptance": {"geometric": 0.8}}})");
    CHECK(std::get<sim::ParallelDrafter>(read(dspark).drafter).markov_rank == 64);
    Input dflash(R"({"d": {"kind": "dflash", "acceptance": {"geometric": 0.8}}})");
    CHECK(std::get<sim::ParallelDrafter>(read(dflash).drafter).markov_rank == 0);
}

}  // namespace drafter_checkpoint_test
