// Every cut that engines offer: counted by hand, and none that could not run.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "setups.h"
#include "sim/round.h"
#include "sweeps/cuts.h"

namespace cuts_test {

using namespace treeline;
using namespace treeline::sweeps;
using namespace treeline::testing;

namespace {

std::size_t count_if_any(const std::vector<sim::Platform>& cuts, bool (*holds)(const sim::Platform&)) {
    return static_cast<std::size_t>(std::count_if(cuts.begin(), cuts.end(), holds));
}

}  // namespace

TEST_CASE("a dense model on eight devices: tensor parallel ranks times stages") {
    const std::vector<sim::Platform> cuts = cuts_of(platform("h100-sxm", "vllm"), 8.0, model("llama-3.1-70b"));
    REQUIRE(cuts.size() == 4);  // 8 x 1, 4 x 2, 2 x 4, 1 x 8
    CHECK(cuts.front().ranks == 8.0);
    CHECK(cuts.front().parallel == sim::Parallelism{});
    for (const sim::Platform& cut : cuts) {
        CHECK(cut.devices() == 8.0);
        CHECK(cut.parallel.data == 1.0);
    }
}

TEST_CASE("a mixture on eight devices: groups, and experts cut or dealt out") {
    const sim::Model target = model("deepseek-v3");
    const std::vector<sim::Platform> vllm = cuts_of(platform("h200", "vllm"), 8.0, target);
    // Stages of 8, 4, 2 and 1 ranks have 4, 3, 2 and 1 numbers of groups; experts are dealt out or not, but on one rank.
    CHECK(vllm.size() == 2 * (4 + 3 + 2) + 1);
    std::set<std::string> names;
    for (const sim::Platform& cut : vllm) {
        CHECK(cut.devices() == 8.0);
        names.insert(text_of(cut.ranks, cut.parallel));
    }
    CHECK(names.size() == vllm.size());
    const std::vector<sim::Platform> sglang = cuts_of(platform("h200", "sglang"), 8.0, target);
    CHECK(sglang.size() == 8);
    CHECK(count_if_any(sglang, [](const sim::Platform& cut) { return cut.parallel.pipeline > 1.0; }) == 0);
    const std::vector<sim::Platform> tensorrt = cuts_of(platform("h200", "tensorrt-llm"), 8.0, target);
    CHECK(count_if_any(tensorrt, [](const sim::Platform& cut) { return cut.parallel.data > 1.0 && cut.ranks > 1.0; }) == 0);
}

TEST_CASE("which cuts an engine does not run is what its stack says, whatever the stack is called") {
    const sim::Model target = model("llama-3.1-70b");
    const std::vector<sim::Platform> layers = cuts_of(platform("h100-sxm", "llama.cpp"), 4.0, target);
    REQUIRE(layers.size() == 1);
    CHECK(layers.front().parallel.pipeline == 4.0);
    sim::Platform own = platform("h100-sxm", "vllm");
    own.stack.name = "my own";
    CHECK(cuts_of(own, 4.0, target).size() == 3);  // 4 x 1, 2 x 2, 1 x 4
    own.stack.drafts.cuts_not_run = {{sim::CutDegree::pipeline}};
    CHECK(cuts_of(own, 4.0, target).size() == 1);
    own.stack.drafts.cuts_not_run = {{sim::CutDegree::tensor, sim::CutDegree::pipeline}};
    CHECK(cuts_of(own, 4.0, target).size() == 2);
    own.stack.drafts.cuts_not_run = {{sim::CutDegree::experts, sim::CutDegree::tensor}};
    CHECK(cuts_of(own, 4.0, target).size() == 3);  // dense
}

TEST_CASE("cuts that divide neither heads nor experts are not offered") {
    // 32 heads, 5 devices: only stages are left.
    const std::vector<sim::Platform> cuts = cuts_of(platform("h100-sxm", "vllm"), 5.0, model("llama-3.1-8b"));
    REQUIRE(cuts.size() == 1);
    CHECK(cuts.front().parallel.pipeline == 5.0);
    CHECK(cuts_of(platform("h100-sxm", "vllm"), 37.0, model("llama-3.1-8b")).empty());
}

}  // namespace cuts_test
