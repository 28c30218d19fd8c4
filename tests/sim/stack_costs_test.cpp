// What the kernels of a software stack add to passes, rounds and memory. The stack is the ideal one with one number beside it.
#include <catch2/catch.hpp>

#include <cmath>

#include "stack_setups.h"

namespace stack_costs_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;
using namespace treeline::testing::stack_setups;

TEST_CASE("kernels that reach half of the bandwidth take twice as long where memory bounds them") {
    RoundSetup setup = mamba_setup(Rollback::replay, chain(4));
    const Seconds whole = evaluate(compile_round(setup), {0, 1.0, 100.0}).round;
    setup.platform.stack.kernels.memory_efficiency = 0.5;
    setup.platform.stack.kernels.unhidden = 0.0;
    // Token-by-token scans add their few FLOPs to the memory time, so a little less than twice.
    const Seconds half = evaluate(compile_round(setup), {0, 1.0, 100.0}).round;
    CHECK(half / whole == Approx(2.0).epsilon(0.01));
    CHECK(half / whole < 2.0);
}

TEST_CASE("few rows of quantised weights run on vector units, one after the other") {
    RoundSetup setup;
    setup.target = model("llama-3.1-8b");
    setup.precision = checkpoint_precision(NumberFormat::int4, NumberFormat::bf16);
    setup.platform = platform("rtx-3090", "ideal");
    setup.speculations = {chain(0)};
    const auto step = [&](double batch) { return evaluate(compile_round(setup), {0, batch, 0.0}).round.value(); };
    CHECK(step(8.0) == Approx(step(1.0)).epsilon(0.05));
    setup.platform.stack.kernels.row_curves = {{.weights = CurveWeights::narrow, .few_rows = 8.0, .few_rows_speed = 0.5}};
    // A further row of the layers takes their FLOPs at half of 35.6 TFLOP/s; from 8 rows on, nothing until the matrix units
    // (71 TFLOP/s) need as long, which they do at 32 rows. The head, in 16 bits, is not among them.
    const double row = 2.0 * static_cast<double>(body_parameters(setup.target)) / (0.5 * 35.6e12);
    CHECK(step(5.0) - step(3.0) == Approx(2.0 * row).epsilon(0.02));
    CHECK(step(31.0) - step(9.0) < 0.5 * row);
    CHECK(step(48.0) - step(40.0) == Approx(8.0 * row / 4.0).epsilon(0.2));
}

TEST_CASE("weights that are unpacked are read as fast as wide ones: no tile of 128 rows hides behind so few bytes") {
    RoundSetup setup;
    setup.target = model("llama-3.1-8b");
    setup.platform = platform("l40s", "vllm-0.14");
    setup.platform.mode = CostMode::calibrated;
    setup.speculations = {chain(0)};
    const auto step = [&](NumberFormat weights, double batch) {
        setup.precision = checkpoint_precision(weights, NumberFormat::bf16);
        return evaluate(compile_round(setup), {0, batch, 0.0}).round.value();
    };
    // 3.7 GB of layers with their scales and a head of 1.05 GB, at 864 GB/s, and what small kernels take.
    CHECK(step(NumberFormat::int4, 1.0) > 4.7e9 / 864e9);
    CHECK(step(NumberFormat::int4, 1.0) < 1.45 * 4.7e9 / 864e9);
    CHECK(step(NumberFormat::int4, 8.0) < 1.1 * step(NumberFormat::int4, 1.0));
    // Many rows are multiplied in 16 bits either way.
    CHECK(step(NumberFormat::int4, 512.0) == Approx(step(NumberFormat::bf16, 512.0)).epsilon(0.25));
}

TEST_CASE("a stack may say how fast it multiplies weights that it unpacks: by vector units, beyond few rows in whole tiles") {
    RoundSetup setup;
    setup.target = model("llama-3.1-8b");
    setup.precision = checkpoint_precision(NumberFormat::int4, NumberFormat::bf16);
    setup.platform = platform("rtx-3090", "ideal");
    setup.speculations = {chain(0)};
    const auto step = [&](double batch) { return evaluate(compile_round(setup), {0, batch, 0.0}).round.value(); };
    const double alone = step(1.0), many = step(512.0);
    setup.platform.stack.kernels.row_curves = {
        {.weights = CurveWeights::unpacked, .few_rows = 4.0, .tile = 32.0, .speed = 0.5, .hides = true}};  // of 35.6 TFLOP/s
    const double row = 2.0 * static_cast<double>(body_parameters(setup.target)) / (0.5 * 35.6e12);
    CHECK(step(1.0) == Approx(alone).epsilon(0.01));  // reading hides a row
    CHECK(step(4.0) == Approx(alone).epsilon(0.05));
    const double rest = step(5.0) - 32.0 * row;  // the head, in 16 bits, and what is read of it
    CHECK(rest > 0.0);
    CHECK(rest < 0.3 * alone);
    CHECK(step(32.0) == Approx(step(5.0)).epsilon(0.02));
    CHECK(step(48.0) - step(32.0) == Approx(16.0 * row).epsilon(0.02));
    CHECK(step(512.0) > 3.0 * many);
    // Weights that matrix units compute as they are stored are not unpacked.
    setup.precision = uniform_precision(NumberFormat::bf16);
    const double wide = step(8.0);
    setup.platform.stack.kernels.row_curves.clear();
    CHECK(step(8.0) == wide);
}

TEST_CASE("two rows and more compute a whole tile, beside reading the weights") {
    RoundSetup setup;
    setup.target = model("llama-3.1-8b");
    setup.precision = setup.target.precision;
    setup.platform = platform("rtx-3090", "ideal");
    setup.speculations = {chain(0)};
    const auto step = [&](double batch) { return evaluate(compile_round(setup), {0, batch, 0.0}).round.value(); };
    const double one = step(1.0);
    setup.platform.stack.kernels.row_curves = {{.tile = 16.0, .matrix_tile = 64.0}};  // 16 on devices without matrix units
    // 64 rows at 71 TFLOP/s; a single row runs on vector units.
    const double parameters = static_cast<double>(body_parameters(setup.target)) +
                              static_cast<double>(setup.target.width * setup.target.vocabulary_size);
    const double tile = 64.0 * 2.0 * parameters / 71e12;
    CHECK(step(1.0) == Approx(one).epsilon(0.05));
    CHECK(step(2.0) - one == Approx(tile).epsilon(0.05));
    CHECK(step(64.0) == Approx(step(2.0)).epsilon(0.03));
    CHECK(step(128.0) - step(64.0) == Approx(tile).epsilon(0.08));  // with activations and logits
    // Experts that are read for each row: one token touches each of its own once, 16 touch 82 of 128 and have 128 rows.
    setup.target = model("qwen3-30b-a3b");
    setup.precision = setup.target.precision;
    const double one_token = step(1.0), sixteen = step(16.0);
    setup.platform.stack.kernels.row_curves.push_back(
        {.of = CurveProducts::experts, .few_rows = 4.0, .reads_per_row = 1.0, .hides = true});
    CHECK(step(1.0) == Approx(one_token).epsilon(0.03));
    const double touched = 128.0 * (1.0 - std::pow(15.0 / 16.0, 16.0));
    const double reading = 48.0 * 3.0 * 2048.0 * 768.0 * 2.0 / 936e9;  // one expert in each layer
    CHECK(step(16.0) - sixteen == Approx((128.0 - touched) * reading).epsilon(0.05));
    CHECK(step(96.0) == Approx(step(64.0)).epsilon(0.1));  // from four rows an expert on one product serves all
}

TEST_CASE("each token of a scan waits for the one before: layers x tokens x step, replay included") {
    const auto step = [](Stack& stack) { stack.kernels.scan_step = Seconds(1.0 * microsecond); };
    // Verification of 5 tokens, and a replay of the τ tokens that were accepted: 64·(5 + τ) us.
    const RoundSetup setup = mamba_setup(Rollback::replay, chain(4));
    const double accepted = estimate(setup).accept_length;
    CHECK(added_microseconds(setup, 1.0, step) == Approx(layers * (5.0 + accepted)));
    // Rows of a batch step side by side.
    CHECK(added_microseconds(setup, 8.0, step) == Approx(layers * (5.0 + accepted)));
}

TEST_CASE("the step latency is the same in both faces, to the last bit") {
    RoundSetup setup = mamba_setup(Rollback::joint, chain(4));
    setup.platform.stack = stack("research-graph");
    setup.speculations.push_back({SequencesShape{2, 3}, Verification::unrolled, "2x3"});
    const CompiledRound round = compile_round(setup);
    const std::vector<int> speculation = {0, 1, 2, 1};
    const std::vector<double> batch = {1.0, 2.0, 3.0, 4.0}, context(4, 100.0);
    std::vector<RoundEstimate> columns(4);
    evaluate(round, {speculation, batch, context}, columns);
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(columns[i].round == evaluate(round, {speculation[i], batch[i], context[i]}).round);
    }
}

TEST_CASE("operations of an explained pass still add up with step latencies") {
    RoundSetup setup = mamba_setup(Rollback::replay, chain(4));
    setup.platform.stack.kernels.scan_step = Seconds(2.0 * microsecond);
    for (const ExplainedPass& pass : explain(compile_round(setup), {1, 2.0, 100.0})) {
        Seconds sum;
        for (const OperationEstimate& operation : pass.operations) {
            sum += operation.time;
        }
        CHECK(sum / pass.time == Approx(1.0));
    }
}

TEST_CASE("layers of experts have a time of their own, experts a speed, and a deployment a factor on all of it") {
    RoundSetup setup;
    setup.target = model("gpt-oss-120b");  // 36 layers, all of them with experts
    setup.precision = setup.target.precision;
    setup.platform = platform("h100-sxm", "cuda-graph");
    setup.speculations = chains_up_to(0);
    const DesignPoint plain{0, 8.0, 1000.0};
    const auto step = [&] { return evaluate(compile_round(setup), plain).round.value(); };
    const double before = step();
    setup.platform.stack.layers.per_expert_layer = Seconds(20.0 * microsecond);
    const double with_layers = step();
    CHECK((with_layers - before) / microsecond == Approx(36.0 * 20.0));

    const auto experts = [&] {
        const CompiledRound round = compile_round(setup);
        const std::vector<OperationEstimate> operations = explain(round.pass(PassId::plain), {8.0, 1.0, 1000.0, 1.0});
        double bytes = 0.0;
        for (const OperationEstimate& operation : operations) {
            bytes += operation.kind == OperationKind::experts ? operation.bytes.value() : 0.0;
        }
        return bytes;
    };
    // Few rows: the experts' time is that of their bytes, at 0.88 of 3.35 TB/s.
    setup.platform.stack.kernels.expert_speed = 1.25;
    const double saved = with_layers - step();
    const Stack& stack = setup.platform.stack;
    const double memory = experts() / (stack.kernels.memory_efficiency * setup.platform.device.bandwidth.value());
    CHECK(saved > 0.2 * memory);  // and 0.3 of their products' time, which memory does not hide
    CHECK(saved < 0.25 * memory);

    const double unscaled = step();
    setup.platform.stack.measured.time_factor = 1.4;
    CHECK(step() == Approx(1.4 * unscaled));
    setup.platform.stack.measured.time_factor = 0.0;
    CHECK(problems_of(setup.platform.stack).size() == 1);
}

TEST_CASE("a factor on rounds leaves plain steps as they are") {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", "vllm"));
    setup.platform.stack.host[HostDriver::draft_token] = Seconds(20e-6);
    const DesignPoint point{3, 8.0, 1024.0};
    const RoundEstimate before = evaluate(compile_round(setup), point);
    setup.platform.stack.measured.round_factor = 1.25;
    const RoundEstimate after = evaluate(compile_round(setup), point);
    CHECK(after.round.value() == Approx(1.25 * before.round.value()));
    CHECK(after.autoregressive == before.autoregressive);
    CHECK(evaluate(compile_round(setup), {0, 8.0, 1024.0}).round == before.autoregressive);
    setup.platform.stack.measured.round_factor = -1.0;
    CHECK(problems_of(setup.platform.stack).size() == 1);
}

TEST_CASE("a chunk scan of a few tokens moves the state six times") {
    // Read and written at either end, and through memory in fp32 from chunk states to state passing to the output: 2 + 2·2
    // states of 80·64·128 fp32 elements.
    const RoundSetup setup = mamba_setup(Rollback::joint, {ChainShape{4}, Verification::unrolled_chunk, "chain"});
    const double state = 4.0 * 80 * 64 * 128;
    const CompiledRound round = compile_round(setup);
    const CompiledPass& pass = round.pass(PassId::verify_chunk);
    for (std::size_t i = 0; i < pass.operations.size(); ++i) {
        if (pass.launched[i].kind == OperationKind::scan) {
            CHECK(pass.operations[i].cost.bytes.per_sequence.value() == Approx(6.0 * state));
            CHECK(pass.operations[i].rates.overlap == 1.0);
        }
    }
}

TEST_CASE("each captured graph keeps its memory: one a length under joint attainment, one for replay") {
    const auto added = [](Rollback rollback) {
        RoundSetup setup = mamba_setup(rollback, chain(6));
        const Bytes before = estimate(setup).memory;
        setup.platform.stack.memory.memory_per_graph = Bytes(1e6);
        return (estimate(setup).memory - before).value() / 1e6;
    };
    CHECK(added(Rollback::joint) == Approx(7.0));   // "K + 1 graphs captured" for K drafted tokens, Snakes and Ladders
    CHECK(added(Rollback::replay) == Approx(2.0));  // the step and the replay
}

TEST_CASE("every kernel takes its start-up once: 6 in a layer, and those at the ends") {
    RoundSetup setup = mamba_setup(Rollback::replay, chain(4));
    setup.platform.stack.kernels.unhidden = 0.3;
    const Seconds before = evaluate(compile_round(setup), {0, 1.0, 100.0}).round;
    setup.platform.stack.kernels.kernel_startup = Seconds(1.0 * microsecond);
    // Norm, two projections, convolution, scan and gated norm; embedding, final norm, LM head and sampling.
    const Seconds after = evaluate(compile_round(setup), {0, 1.0, 100.0}).round;
    CHECK((after - before).value() / microsecond == Approx(layers * 6.0 + 4.0));
}

TEST_CASE("what kernels fail to hide: the overlap law's r on matrix products") {
    RoundSetup setup = mamba_setup(Rollback::replay, chain(4));
    setup.platform.stack.kernels.unhidden = 0.25;
    const CompiledRound round = compile_round(setup);
    const CompiledPass& pass = round.pass(PassId::plain);
    for (std::size_t i = 0; i < pass.operations.size(); ++i) {
        CHECK(pass.operations[i].rates.overlap == (pass.launched[i].sequential ? 1.0 : 0.25));
    }
}

TEST_CASE("operations of their own launch factor add gaps; all others keep the stack's") {
    // 64 norms before layers and one after the last; each kernel beyond the first adds a gap of 1 us.
    RoundSetup setup = mamba_setup(Rollback::joint, chain(4));
    setup.platform.stack.launching.node_cost = Seconds(1.0 * microsecond);
    const auto plain = [](const RoundSetup& priced) {
        return evaluate(compile_round(priced), {0, 1.0, 100.0}).autoregressive.value() / microsecond;
    };
    const double before = plain(setup);
    setup.platform.stack.launching.launch_factors = {{"norm", 9.0}};
    CHECK(plain(setup) - before == Approx(layers * 8.0));
    setup.platform.stack.launching.launch_factors = {{"gated norm", 3.0}};
    CHECK(plain(setup) - before == Approx(layers * 2.0));
    setup.platform.stack.launching.launch_factors = {
        {"layer norm", 9.0}, {"unwritten state scan", 9.0}, {"tree attention", 9.0}};
    CHECK(plain(setup) - before == Approx(0.0).margin(1e-9));  // Mamba-2 has none of these in plain decoding
    setup.platform.stack.launching.launch_factors = {{"norm", 0.0}};
    CHECK(problems_of(setup.platform.stack).size() == 1);
}

TEST_CASE("layer norms, scans that leave no state and tree attention are listed under names of their own") {
    RoundSetup neox = mamba_setup(Rollback::truncate, chain(4));
    neox.target = model("pythia-6.9b");
    neox.precision = neox.target.precision;
    neox.platform.stack.launching.node_cost = Seconds(1.0 * microsecond);
    const auto norms = [](Stack& stack) { stack.launching.launch_factors = {{"norm", 9.0}, {"layer norm", 1.0}}; };
    const auto any_norms = [](Stack& stack) { stack.launching.launch_factors = {{"norm", 9.0}}; };
    const auto layer_norms = [](Stack& stack) { stack.launching.launch_factors = {{"layer norm", 2.0}}; };
    CHECK(added_microseconds(neox, 1.0, norms) == Approx(0.0).margin(1e-6));
    CHECK(added_microseconds(neox, 1.0, any_norms) > 32.0 * 2.0 * 8.0 - 1.0);             // which they are unless listed
    CHECK(added_microseconds(neox, 1.0, layer_norms) == Approx(32.0 * 2.0).margin(1.1));  // two a layer, and the last one

    RoundSetup replayed = mamba_setup(Rollback::replay, chain(4));
    replayed.platform.stack.launching.node_cost = Seconds(1.0 * microsecond);
    const auto scans = [](Stack& stack) {
        stack.launching.launch_factors = {{"unwritten state scan", 13.0}, {"activation replay", 22.0}};
    };
    CHECK(added_microseconds(replayed, 1.0, scans) == Approx(layers * (12.0 + 21.0)));
}

TEST_CASE("replay as research code does it moves the state more often, and all verified tokens") {
    RoundSetup setup = mamba_setup(Rollback::replay, chain(8));
    const double state = layers * 4.0 * 80 * 64 * 128;
    const double bandwidth = setup.platform.device.bandwidth.value();
    const auto copied = [](Stack& stack) { stack.states.replay_traffic = 3.0; };
    CHECK(added_microseconds(setup, 1.0, copied) == Approx(3.0 * state / bandwidth / microsecond));
    setup.platform.stack.kernels.scan_step = Seconds(1.0 * microsecond);
    const double accepted = estimate(setup).accept_length;
    const auto all = [](Stack& stack) { stack.states.replays_rejected = true; };
    CHECK(added_microseconds(setup, 1.0, all) >= Approx(layers * (9.0 - accepted)));
}

TEST_CASE("attention composed of a framework's operations copies caches and writes scores") {
    RoundSetup setup;
    setup.target = model("llama-3-8b");  // 32 layers, 32 query heads, 8 key-value heads of 128
    setup.precision = setup.target.precision;
    setup.platform = platform("h100-sxm", "ideal");
    setup.speculations = {chain(0)};
    const double bandwidth = setup.platform.device.bandwidth.value();
    const auto step = [&](const Stack& stack) {
        RoundSetup priced = setup;
        priced.platform.stack = stack;
        return evaluate(compile_round(priced), {0, 1.0, 8192.0}).autoregressive.value();
    };
    Stack copies = setup.platform.stack;
    copies.caches.concatenates_caches = copies.caches.expands_caches = true;
    const double cache = 32.0 * 2.0 * 8.0 * 128.0 * 2.0 * 8192.0;
    CHECK(step(copies) - step(setup.platform.stack) == Approx((2.0 + 2.0 * 4.0) * cache / bandwidth).epsilon(0.01));

    Stack scores = setup.platform.stack;
    scores.caches.score_traffic = Bytes(4096.0);  // far above what computes, so that memory bounds attention
    RoundSetup eager = setup;
    eager.platform.stack = scores;
    CHECK(time_to_first_token(compile_round(eager), 1024.0).value() >= 32.0 * 32.0 * 1024.0 * 1024.0 * 4096.0 / bandwidth);
    CHECK(step(scores) == step(setup.platform.stack));  // decoding writes a row of them, which is not counted
}

}  // namespace stack_costs_test
