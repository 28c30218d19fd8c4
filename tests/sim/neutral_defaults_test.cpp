// What nothing is said of changes nothing: factors and shares are 1, one pass of one sequence runs one token once, and whatever
// is added is 0.
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <vector>

#include "neutral.h"
#include "operation_time.h"
#include "sim/attention_walk.h"
#include "sim/draft_acceptance.h"
#include "sim/drafters/draft_steps.h"
#include "sim/fpga/ablation.h"
#include "sim/fpga/block_pipeline.h"
#include "sim/fpga/resources.h"
#include "sim/fpga/round.h"
#include "sim/fpga/tile_stream.h"
#include "sim/kernel_law.h"
#include "sim/layers/layers.h"
#include "sim/measured_acceptance.h"
#include "sim/parallelism.h"
#include "sim/pass.h"
#include "sim/rates.h"
#include "sim/recurrent_verification.h"
#include "sim/round_bounds.h"
#include "sim/round_grid.h"
#include "sim/sampling/temperature.h"
#include "sim/stack.h"

namespace neutral_defaults_test {

using namespace treeline;
using namespace treeline::sim;

using testing::check_ones;

TEST_CASE("a law that states nothing is the data sheet") {
    // 1 B/s and 1 FLOP/s: 10 FLOPs a row and 30 bytes of weights take 30 s with one row, 40 s with four.
    Rates sheet;
    sheet.per_byte = 1.0 / BytesPerSecond(1.0);
    sheet.per_flop = 1.0 / FlopsPerSecond(1.0);
    Operation layer;
    layer.flops.per_token = Flops(10.0);
    layer.bytes.fixed = Bytes(30.0);
    const Rates rates = measured_rates(KernelLaw{}, sheet, layer);
    REQUIRE(std::holds_alternative<NoRows>(rates.rule));
    for (const double rows : {1.0, 4.0}) {
        CHECK(testing::time_of(layer, rates, {rows}) == Seconds(std::max(30.0, 10.0 * rows)));
    }
    const RowSteps steps;
    check_ones({steps.tile, steps.least_tile, steps.inverse_least_tile, steps.padding});
}

TEST_CASE("a stack that states nothing reaches the data sheet, and adds nothing") {
    const Stack stack;
    check_ones({stack.kernels.memory_efficiency, stack.kernels.compute_efficiency, stack.kernels.scan_efficiency,
                stack.kernels.attention_efficiency, stack.caches.shared_prefix_read, stack.launching.launch_factor,
                stack.launching.graph_launch_factor, stack.kernels.expert_speed, stack.measured.time_factor,
                stack.measured.round_factor, stack.serving.prompt_wait, stack.states.state_slots});
    check_ones({CalibratedNumbers{}.launch_factor, CalibratedNumbers{}.expert_speed, OperationLaunches{}.factor,
                PowerPoint{}.memory, PowerPoint{}.compute, Device{}.host_speed, RowCurve{}.few_rows, LinearSpeed{}.memory,
                LinearSpeed{}.compute});
    CHECK(stack.launching.calls_per_copy == 3.0);  // a view of either row, and the copy
}

TEST_CASE("a pass that states nothing is one token of one sequence, run once on one rank") {
    const PassShape shape;
    check_ones({shape.sequences, shape.tokens, shape.logits});
    const Operation operation;
    check_ones({operation.count, operation.launches, operation.weight_copies, operation.rows_per_token, operation.ranks,
                operation.own_routing, operation.shared_read, operation.busiest_share});
    check_ones({TimedOperation{}.runs, TimedOperation{}.memory_runs(), PassConstants{}.time_factor, OperationEstimate{}.count});
    check_ones({PassOptions{}.ranks, PassOptions{}.shared_prefix_read, Platform{}.ranks});
    const LayerContext layer;
    check_ones({layer.ranks, layer.shared_prefix_read, layer.occurrences, layer.copies});
    const Parallelism parallel;
    check_ones({parallel.data, parallel.experts, parallel.pipeline});
    check_ones({BusiestRank{}.share, BusiestRank{}.most, VerifyShape{}.sequences, VerifyShape{}.tokens});
}

TEST_CASE("a step that states nothing runs once for each sequence, over one token with its logits") {
    const DraftStep draft;
    check_ones({draft.rows, draft.tokens, draft.logits, draft.runs});
    const RoundStep step;
    check_ones({step.rows, step.tokens, step.logits, step.runs});
    check_ones({TurnPass{}.tokens, TurnPass{}.runs, ExplainedPass{}.runs});
    // A row of plain decoding: the live state, and one token that is verified, grows the cache and has logits; one graph.
    const RoundRow row;
    check_ones({row.target_states, row.logits, row.activations, row.new_tokens, row.graphs});
    check_ones({DesignPoint{}.batch, PointBox{}.least_batch, PointBox{}.most_batch});
}

TEST_CASE("nothing that is known of acceptance or requests is a round of one token, and one request of each kind") {
    check_ones({AcceptedTokens{}.length, MeasuredShape{}.accept_length, sampling::MeasuredLength{}.accept_length});
    CHECK(AcceptedTokens{}.exactly == std::vector<double>{1.0});
    check_ones({LengthShare{}.share, MeasuredAcceptance{}.runs, sampling::Temperatures{}.target,
                sampling::Temperatures{}.drafter, RoundSetup{}.expert_pool});
    check_ones({MeasuredLoad{}.batch, MeasuredLoad{}.ratio, MeasuredLoads{}.devices, MeasuredLoads{}.reach,
                LoadRatios().at(3.0, 5.0, 2.0).plain, LoadRatios().at(3.0, 5.0, 2.0).round});
    const NgramDrafter lookup;
    check_ones({lookup.hit_rate, DrafterPlan{}.hit_rate, DrafterPlan{}.weight_copies, DrafterPlan{}.drafting_share,
                InnerDraft{}.length});
    // Two inner drafts, of which one is kept: with the token of the middle model two tokens.
    CHECK(CascadeDrafter{}.inner_tokens == 2);
    CHECK(CascadeDrafter{}.inner_length == 2.0);
    const RoundConstants round;
    check_ones({round.prompt_wait, round.ranks, round.tensor, round.groups, round.stages, round.largest_stage});
}

TEST_CASE("a design that states nothing runs one token a tile and cycle, at the board's bandwidth") {
    const fpga::Design design;
    check_ones({design.linear.tokens, design.linear.initiation_interval, design.convolution.cycles_per_group,
                design.memory_efficiency});
    CHECK(design.linear.products_per_dsp == 4.0);  // of two factors of 4 bits
    CHECK(design.ssm.state_buffers == 2.0);        // one is worked on while the other is moved
    const fpga::TreeWork root;
    check_ones({root.verified_tokens, root.parents, fpga::DraftStep{}.tokens, fpga::DraftStep{}.parents, fpga::DraftStep{}.runs,
                fpga::LayerWork{}.tokens, fpga::BufferNeeds{}.tokens, fpga::BlockWork{}.blocks});
    // A pass reads the state once and writes it once.
    check_ones({fpga::PassWork{}.state_reads, fpga::PassWork{}.state_writes});
}

TEST_CASE("parts of a law that state nothing reach the data sheet, and divide work evenly") {
    const KernelLaw law;
    check_ones({law.bandwidth_share, law.peak_share, law.wide_head_share, law.row_tile, law.padding, law.first_row, law.workers,
                law.knots[0].slope, law.prompt.depth});
    const CollectiveLaw link;
    check_ones({link.one_shot_share, link.two_shot_share, link.ring_share, link.ring_scale_4, link.ring_scale_8});
    check_ones({AttentionWalkLaw{}.bandwidth_share, RecurrentVerificationLaw{}.bandwidth_share});
    const RecurrentVerification one;
    check_ones({one.sequences, one.tokens, one.heads});
    check_ones({ContextTiles{}.rows_per_new_token, ContextTiles{}.tile, ContextTiles{}.inverse_tile, ExpertTiles{}.tile});
    check_ones({RowCosts{}.first, RowCosts{}.slope, RowCosts{}.inverse_workers});
    const PromptTiles prompt;
    check_ones({prompt.rows_per_token, prompt.groups, prompt.tile, prompt.inverse_tile, prompt.tokens, prompt.columns,
                prompt.inverse_workers, prompt.depth});
    check_ones({ExchangeShape{}.active, ExchangeShape{}.experts, ExchangeShape{}.ranks});
    check_ones({ContextReach{}.scale, SparseIndexer{}.tokens_per_key, MixtureOfExperts{}.pool});
}

TEST_CASE("a point that states nothing is one sequence, whose round yields one token and gains nothing") {
    check_ones({Sequences{}.all, Sequences{}.of_group, Sequences{}.of_pass, StepPasses{}.sequences, StepPasses{}.passes});
    const RoundEstimate estimate;
    check_ones({estimate.accept_length, estimate.iteration_multiplier, estimate.throughput_multiplier, estimate.decode_share});
    check_ones({std::make_unique<EstimateColumns>()->accept_length, RowConstants{}.kept, MemoryConstants{}.state_slots,
                MemoryConstants{}.measured, MeasuredLoads{}.memory});
    check_ones({Stack{}.kernels.fp4_read_speed, RoundStep{}.share, DraftStep{}.share});
    const fpga::RoundCost cost;
    check_ones({cost.accept_length, cost.speedup, cost.break_even_accept_length});
    check_ones({fpga::AblationRow{}.latency_gain, fpga::AblationRow{}.energy_gain});
    const fpga::TileRates tiles;
    check_ones({tiles.tile_inputs, tiles.tile_outputs, tiles.multipliers, tiles.bytes_per_cycle, tiles.initiation_interval});
    CHECK(tiles.bits_per_weight == 4.0);
    // 4 bits and a scale of 6 for each 128 weights; 8 and one of 4 for each 8 elements of a state.
    CHECK(fpga::Design{}.weights.bits_per_element() == 4.0 + 6.0 / 128.0);
    CHECK(fpga::Design{}.state.bits_per_element() == 8.0 + 4.0 / 8.0);
}

}  // namespace neutral_defaults_test
