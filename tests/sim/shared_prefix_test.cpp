// Prompts that begin alike: their caches are kept once, their tokens read once before all others, and kernels of some engines
// read their caches once for all.
#include <catch2/catch.hpp>

#include "setups.h"
#include "sim/prompt_work.h"

namespace shared_prefix_test {

using namespace treeline;
using namespace treeline::sim;
using namespace treeline::testing;

namespace {

constexpr double prefix = 6000.0;

RoundSetup llama(const std::string& stack_name, double shared_prefix) {
    RoundSetup setup = pair_setup("llama-3-8b", "llama-3.2-1b", platform("h100-sxm", stack_name));
    setup.shared_prefix = shared_prefix;
    return setup;
}

Bytes read_by_attention(const CompiledRound& round, PassId id, const PassShape& shape) {
    Bytes sum;
    for (const OperationEstimate& operation : explain(round.pass(id), shape)) {
        if (operation.name.ends_with(": attention")) {
            sum += operation.bytes;
        }
    }
    return sum;
}

}  // namespace

TEST_CASE("sequences after the first read a shared prefix at the stack's price, others in full", "[prefix]") {
    const double context = 8000.0, batch = 16.0;
    // 32 layers of 8 heads of 128 channels, keys and values of 2 bytes.
    const double token = 32.0 * 2.0 * 8.0 * 128.0 * 2.0;
    for (const double read : {1.0, 0.5, 0.12}) {
        RoundSetup setup = llama("vllm-0.14", 0.0);
        setup.platform.stack.caches.shared_prefix_read = read;
        const CompiledRound apart = compile_round(setup);
        setup.shared_prefix = prefix;
        const CompiledRound together = compile_round(setup);
        for (const PassId id : {PassId::plain, PassId::verify_unrolled}) {
            const double tokens = id == PassId::plain ? 1.0 : 5.0;
            const auto saved = [&](double sequences, double cached) {
                const PassShape shape{sequences, tokens, cached, tokens};
                return (read_by_attention(apart, id, shape) - read_by_attention(together, id, shape)).value();
            };
            CHECK(saved(batch, context) == Approx((batch - 1.0) * prefix * (1.0 - read) * token).margin(1.0));
            CHECK(saved(batch, 1000.0) == Approx((batch - 1.0) * 1000.0 * (1.0 - read) * token).margin(1.0));
            CHECK(saved(1.0, context) == 0.0);
        }
        // A drafter's passes look for no common prefix.
        const PassShape draft{batch, 1.0, context, 1.0};
        CHECK(read_by_attention(apart, PassId::draft, draft) == read_by_attention(together, PassId::draft, draft));
    }
}

TEST_CASE("attention over latents and windows of others read all that they see", "[prefix]") {
    for (const char* name : {"deepseek-v3", "gemma-3-27b"}) {
        RoundSetup setup = pair_setup(name, "llama-3.2-1b", platform("h200", "vllm-0.14", 8.0));
        setup.shared_prefix = prefix;
        const CompiledRound round = compile_round(setup);
        std::size_t shared = 0, in_full = 0;
        const CompiledPass& pass = round.pass(PassId::plain);
        for (std::size_t i = 0; i < pass.operations.size(); ++i) {
            if (const auto& [cost, rates, runs, through_memory, reads_context] = pass.operations[i]; reads_context) {
                const bool cheaper = cost.shared_context > 0.0 && cost.shared_read < 1.0;
                ++(cheaper ? shared : in_full);
                CHECK(cheaper == (pass.launched[i].name.ends_with(": attention") && cost.reach.window == unlimited));
            }
        }
        CHECK(in_full > 0);
        CHECK(shared == (std::string(name) == "deepseek-v3" ? 0 : 1));
    }
}

TEST_CASE("a shared prefix is cached once", "[prefix]") {
    const double context = 8000.0, batch = 16.0;
    const auto memory = [&](double shared_prefix, double at) {
        RoundSetup setup = llama("vllm", shared_prefix);
        setup.prompt_tokens = context;
        return evaluate(compile_round(setup), {4, batch, at}).memory.value();
    };
    const CompiledRound round = compile_round(llama("vllm", prefix));
    const double one =
        (cache_memory(round.memory.target_caches, {}, prefix - 1.0) + cache_memory(round.memory.draft_caches, {}, prefix - 1.0))
            .value();
    CHECK(memory(0.0, context) - memory(prefix, context) == Approx((batch - 1.0) * one).epsilon(1e-12));
    // A request whose context is not as long shares what it has.
    CHECK(memory(prefix, 1000.0) < memory(0.0, 1000.0));
    Bytes sum;
    bool named = false;
    for (const MemoryPart& part : memory_parts(round, {4, batch, context})) {
        sum += part.bytes;
        named = named || part.part == "key-value caches of what all sequences share";
    }
    CHECK(named);
    CHECK(sum.value() == Approx(evaluate(round, {4, batch, context}).memory.value()).epsilon(1e-12));
}

TEST_CASE("a shared prefix is a part of each prompt that need not be read, but for the last token", "[prefix]") {
    CHECK(cached_tokens(1000.0, 0.0, 600.0) == 600.0);
    CHECK(cached_tokens(1000.0, 0.75, 600.0) == 750.0);
    CHECK(cached_tokens(1000.0, 0.0, 1000.0) == 999.0);
    CHECK(cached_tokens(200.0, 0.0, 600.0) == 199.0);
    CHECK(cached_tokens(0.0, 0.0, 600.0) == 0.0);
    RoundSetup setup = llama("vllm", 0.0);
    setup.prompt_tokens = 8000.0;
    setup.output_tokens = 300.0;
    const CompiledRound cold = compile_round(setup);
    setup.prefix_hit = prefix / 8000.0;
    const CompiledRound hit = compile_round(setup);
    setup.prefix_hit = 0.0;
    setup.shared_prefix = prefix;
    const CompiledRound shared = compile_round(setup);
    CHECK(shared.prompts.target == hit.prompts.target);
    CHECK(shared.prompts.target < cold.prompts.target);
    CHECK(time_to_first_token(shared, 8000.0) == time_to_first_token(hit, 8000.0));
}

TEST_CASE("a shared prefix that no prompt can begin with is a problem", "[prefix]") {
    RoundSetup setup = llama("vllm", 9000.0);
    setup.prompt_tokens = 8000.0;
    REQUIRE(problems_of(setup).size() == 1);
    CHECK(problems_of(setup).front() == "a shared_prefix of 9000 tokens is longer than the prompts of 8000");
    for (const double wrong : {-1.0, static_cast<double>(unlimited), std::numeric_limits<double>::quiet_NaN()}) {
        setup.shared_prefix = wrong;
        CHECK(problems_of(setup) == std::vector<std::string>{"shared_prefix must be a number of tokens"});
    }
    setup.platform.stack.caches.shared_prefix_read = 0.0;
    CHECK_FALSE(problems_of(setup).empty());
}

}  // namespace shared_prefix_test
