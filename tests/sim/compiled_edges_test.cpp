// Edges of what compiling distinguishes: kinds of rows, shared work, pools that read prompts, heads elsewhere, indexers that
// are shared.
#include <catch2/catch.hpp>

#include <algorithm>

#include "hardware/accelerators.h"
#include "setups.h"
#include "sim/fpga/mamba_shape.h"
#include "sim/operations.h"
#include "sim/rates.h"
#include "sim/round.h"

namespace compiled_edges_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

TEST_CASE("rows are of logits where an operation computes for them, and work is shared out by items of rows or of sequences") {
    Operation layer;
    CHECK_FALSE(rows_of(layer).of_logits);
    layer.flops.per_logit = Flops(1.0);
    CHECK(rows_of(layer).of_logits);
    KernelLaw law;
    law.workers = 4.0;
    Operation attention;
    attention.kind = OperationKind::attention;
    const auto share = [&](double per_row, double per_sequence) {
        attention.items = {per_row, per_sequence};
        return std::get<RowCosts>(measured_rates(law, {}, attention).rule).inverse_workers;
    };
    CHECK(share(0.0, 2.0) == 0.25);
    CHECK(share(2.0, 0.0) == 0.25);
    CHECK(share(0.0, 0.0) == 1.0);
}

TEST_CASE("a pool that reads prompts is one, and nobody's prompts are waited for") {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm"));
    setup.prompt_tokens = 700.0;
    setup.output_tokens = 300.0;
    CHECK(compile_round(setup).prefill_pool == 0.0);
    setup.platform.stack.serving.prefill = PrefillPolicy::disaggregated;
    CHECK(compile_round(setup).prefill_pool == 1.0);
    CHECK(compile_round(setup).prompt_wait == 0.0);
}

TEST_CASE("a measured accept length lies between one token and one more than the levels of its shape") {
    const auto problems = [](double length) {
        DraftAcceptance acceptance(Acceptance::geometric(0.5));
        acceptance.measured.push_back({build_tree(BinaryShape{3}, {}), length});  // two levels of nodes
        return acceptance.problems().size();
    };
    CHECK(problems(1.0) == 0);
    CHECK(problems(3.0) == 0);
    CHECK(problems(0.99) == 1);
    CHECK(problems(3.01) == 1);
}

TEST_CASE("an accelerator without the LM head forms the products of the layers alone") {
    RoundSetup setup = pair_setup("mamba2-2.7b", "mamba2-370m",
                                  hardware::load_hardware(source_folder() / "hardware", "specmamba-vhk158", "").value);
    setup.rollback = Rollback::replay;
    setup.speculations = chains_up_to(2);
    const fpga::MambaShape shape = fpga::shape_of(setup.target);
    for (const bool on_chip : {true, false}) {
        setup.platform.accelerator->design.lm_head_on_chip = on_chip;
        const CompiledRound round = compile_round(setup);
        const std::vector<TurnPass>& passes = round.row(2).turn_passes;
        const auto verify =
            std::find_if(passes.begin(), passes.end(), [](const TurnPass& pass) { return pass.phase == Phase::verify; });
        REQUIRE(verify != passes.end());
        const double weights = shape.body_weights() + (on_chip ? shape.head_weights() : 0.0);
        CHECK(verify->flops.value() == Approx(2.0 * weights * verify->tokens));
    }
}

TEST_CASE("a layer that picks what an earlier one picked scores nothing itself") {
    Attention attention;
    attention.query_heads = attention.kv_heads = 2;
    attention.head_dim = 64;
    Model model;
    model.width = 128;
    model.vocabulary_size = 1000;
    model.order = {0};
    const auto scores = [&](Count heads) {
        attention.indexer = SparseIndexer{heads, heads * 64, 16.0, 1.0};
        LayerKind layer;
        layer.name = "layer";
        layer.blocks = {{attention}};
        model.kinds = {layer};
        const std::vector<Operation> operations = operations_of(model, uniform_precision(NumberFormat::bf16), {});
        return std::count_if(operations.begin(), operations.end(),
                             [](const Operation& operation) { return operation.name.find("index") != std::string::npos; });
    };
    CHECK(scores(0) == 0);
    CHECK(scores(2) > 0);
}

TEST_CASE("prompts over latent entries with heads of sparse kernels: one vector is key and value") {
    PassOptions options;
    options.kind = PassKind::prefill;
    options.sparse_prompt_heads = 64.0;
    const Model flash = model("deepseek-v4-flash");
    double dim = 0.0;
    for (const LayerKind& kind : flash.kinds) {
        for (const Block& block : kind.blocks) {
            if (const auto* compressed = std::get_if<CompressedAttention>(&block.kind)) {
                dim = static_cast<double>(compressed->head_dim);
            }
        }
    }
    std::size_t found = 0;
    for (const Operation& operation : operations_of(flash, uniform_precision(NumberFormat::bf16), options)) {
        if (operation.name.ends_with("latent attention")) {
            CHECK(operation.flops.per_visible.value() == 2.0 * operation.rows_per_token * 2.0 * dim);
            ++found;
        }
    }
    CHECK(found > 0);
}

}  // namespace compiled_edges_test
